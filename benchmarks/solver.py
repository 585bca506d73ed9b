"""Compare the speed at which simunix shares links among flows with that of SimGrid's C++ and Python interfaces.

    python benchmarks/solver.py [REPEATS]

All programs compute one set of flows on one platform. The script needs Debian's packages libsimgrid-dev, g++ and
python3-simgrid, and says which of them are missing. simunix's seconds include adding the flows from Python. All seconds
include looking up the routes, except for a second measurement of simunix with known routes. The script compares the
times at which flows finish with SimGrid's.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rsg_server.network.engine import FlowEngine
from rsg_server.network.models import lv08
from rsg_server.platform.link import Route
from rsg_server.platform.simgrid_xml import load_platform

HERE = Path(__file__).resolve().parent
Flow = tuple[int, int, int, float]
Runs = tuple[float, list[float]]
QUIET = ["--log=root.thres:critical"]
PYTHON = "/usr/bin/python3"


def cluster(hosts: int, shape: str = "") -> str:
    """Return the platform file of one cluster whose cables all have 1 Gbit/s and a latency of 50 µs."""
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1">\n'
        f'<cluster id="c" prefix="n" suffix="" radical="0-{hosts - 1}" speed="1Gf" bw="125MBps" lat="50us"{shape}/>\n'
        "</platform>\n"
    )


def pair(chance: random.Random, hosts: int) -> tuple[int, int]:
    """Return the numbers of two different hosts, drawn at random."""
    source, other = chance.randrange(hosts), chance.randrange(hosts - 1)
    return source, other + (other >= source)


def incast(chance: random.Random) -> list[Flow]:
    """Return 64 flows to one host."""
    return [(host, 0, chance.randint(10**6, 10**7), 0.0) for host in range(1, 65)]


def all_to_all(chance: random.Random) -> list[Flow]:
    """Return one flow between every two of 64 hosts."""
    return [(one, other, chance.randint(10**6, 7 * 10**6), 0.0) for one in range(64) for other in range(64) if one != other]


def scattered(chance: random.Random) -> list[Flow]:
    """Return 1,000 flows between random hosts that all begin at one moment."""
    return [(*pair(chance, 1024), chance.randint(10**6, 10**8), 0.0) for _ in range(1000)]


def arriving(chance: random.Random) -> list[Flow]:
    """Return 10,000 flows that begin one after the other, 20,000 per virtual second."""
    moment = 0.0
    found: list[Flow] = []
    for _ in range(10_000):
        moment += chance.expovariate(20_000)
        found.append((*pair(chance, 1024), chance.randint(10**4, 10**6), moment))
    return found


FAT_TREE = ' topology="FAT_TREE" topo_parameters="3;16,8,8;1,8,8;1,1,1"'
DRAGONFLY = ' topology="DRAGONFLY" topo_parameters="8,2;8,2;16,1;1"'
CASES: dict[str, tuple[str, Callable[[random.Random], list[Flow]]]] = {
    "64-to-1 incast": (cluster(65), incast),
    "all-to-all of 64": (cluster(64), all_to_all),
    "1,000 random flows, fat tree of 1,024": (cluster(1024, FAT_TREE), scattered),
    "10,000 arrivals, dragonfly of 1,024": (cluster(1024, DRAGONFLY), arriving),
}


def ours(platform_path: Path, flows: Sequence[Flow], routes: dict[tuple[str, str], Route]) -> Runs:
    """Compute the flows with simunix, and return the real seconds and the virtual times at which flows finish. Routes
    are taken from `routes`, and new ones are added there.
    """
    platform = load_platform(platform_path, simgrid_compat=True)

    def route(source: str, destination: str) -> Route:
        if (source, destination) not in routes:
            routes[source, destination] = platform.route(platform.host_by_name(source), platform.host_by_name(destination))
        return routes[source, destination]

    start = time.perf_counter()
    engine = FlowEngine(route, lv08(), compatible=True)
    numbers = [engine.start(f"n{source}", f"n{destination}", size, moment) for source, destination, size, moment in flows]
    engine.advance(float("inf"))
    taken = time.perf_counter() - start
    return taken, [engine.finish_s(number) for number in numbers]


def theirs(command: Sequence[str | Path]) -> Runs:
    """Run a SimGrid program, and return the seconds and finish times that it prints."""
    done = subprocess.run([*command, *QUIET], check=True, capture_output=True, text=True)
    lines = [float(line) for line in done.stdout.split()]
    return lines[0], lines[1:]


def simgrid_commands(folder: Path) -> dict[str, list[str | Path]]:
    """Return the command of each SimGrid interface, without platform and flows. Interfaces that are not installed are
    reported and left out.
    """
    found: dict[str, list[str | Path]] = {}
    program = folder / "solver_simgrid"
    build = ["g++", "-O2", "-std=c++17", HERE / "solver_simgrid.cpp", "-lsimgrid", "-o", program]
    if shutil.which("g++") and Path("/usr/include/simgrid/s4u.hpp").exists():
        subprocess.run(build, check=True)
        found["C++"] = [program]
    else:
        print("skipped: SimGrid's C++ interface (as root: apt-get install g++ libsimgrid-dev)")
    asked = subprocess.run([PYTHON, "-c", "import simgrid"], check=False, capture_output=True)
    if asked.returncode == 0:
        found["Python"] = [PYTHON, HERE / "solver_simgrid.py"]
    else:
        print("skipped: SimGrid's Python interface (as root: apt-get install python3-simgrid)")
    return found


def furthest(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the largest relative difference between the finish times of two programs; differences up to a nanosecond
    count as none.
    """
    return max(
        (abs(one - other) / other for one, other in zip(ours, theirs, strict=True) if abs(one - other) > 1e-9), default=0
    )


def main() -> None:
    """Print a line for each set of flows: the seconds of each program, and how many times as fast as SimGrid simunix
    is.
    """
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = simgrid_commands(folder)
        for title, (platform, make) in CASES.items():
            flows = make(random.Random(4))
            platform_path, flows_path = folder / "platform.xml", folder / "flows.txt"
            platform_path.write_text(platform)
            flows_path.write_text("".join(f"n{source} n{to} {size} {moment!r}\n" for source, to, size, moment in flows))
            routes: dict[tuple[str, str], Route] = {}
            cold = min(ours(platform_path, flows, {})[0] for _ in range(repeats))
            ours(platform_path, flows, routes)
            warm, finished = min(ours(platform_path, flows, routes) for _ in range(repeats))
            print(f"{title}: ours {cold:.4f} s, {warm:.4f} s with routes known")
            for interface, command in commands.items():
                taken, moments = min(theirs([*command, platform_path, flows_path]) for _ in range(repeats))
                text = f"  SimGrid {interface} {taken:.4f} s: ours {taken / cold:.1f} ×"
                text += f", with routes known {taken / warm:.1f} × as fast"
                if moments:
                    exact = theirs([*command, platform_path, flows_path, "--cfg=network/optim:Full"])[1]
                    text += f"; finish times differ by {furthest(finished, moments):.1e}"
                    text += f", by {furthest(finished, exact):.1e} from network/optim:Full"
                print(text, flush=True)


if __name__ == "__main__":
    main()
