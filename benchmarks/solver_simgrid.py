"""Compute the flows of benchmarks/solver.py with SimGrid's Python interface; solver_simgrid.cpp does so with the C++
interface.

/usr/bin/python3 benchmarks/solver_simgrid.py PLATFORM FLOWS [--cfg=...]
"""

from __future__ import annotations

import sys
import time

from simgrid import Actor, Comm, Engine, Host, this_actor


def main() -> None:
    """Print the real seconds that SimGrid took for the flows, without the time to load the platform."""
    engine = Engine(sys.argv)
    engine.load_platform(sys.argv[1])
    with open(sys.argv[2]) as lines:
        flows = [(fields[0], fields[1], int(fields[2]), float(fields[3])) for fields in map(str.split, lines)]

    def send_all() -> None:
        comms = []
        for source, destination, size, start in flows:
            if start > Engine.clock:
                this_actor.sleep_until(start)
            comms.append(Comm.sendto_async(Host.by_name(source), Host.by_name(destination), size))
        for comm in comms:
            comm.wait()

    Actor.create("sender", engine.all_hosts[0], send_all)
    before = time.perf_counter()
    engine.run()
    print(f"{time.perf_counter() - before:.9f}")


main()
