"""Writes disks.json.gz: when SimGrid's disks end reads and writes. For Debian's Python with python3-simgrid; see README.md.

    /usr/bin/python3 tests/simgrid_reference/disks.py

SimGrid counts whole bytes at each change of a rate, so sizes are large: half a byte is less than 1e-11 of them. Python cannot
set the bandwidth of reads and writes together there; a policy of sharing that gives another capacity does.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from multiprocessing import Process, Queue
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).parent / "disks.json.gz"
SCALE = 10**4
"""The issue's 100 MB at 100 and 40 MB/s, so much larger."""


def operation(start: float, kind: str, size: int, priority: float = 1.0) -> dict[str, Any]:
    return {"start": start, "kind": kind, "bytes": size, "priority": priority}


def by_hand() -> list[dict[str, Any]]:
    read, write, size = 10**8 * SCALE, 4 * 10**7 * SCALE, 10**8 * SCALE
    both = [operation(0, "read", size), operation(0, "write", size)]
    cases = [
        {"read": read, "write": write, "together": None, "operations": both},
        {"read": read, "write": write, "together": read + write, "operations": both},
        {"read": read, "write": write, "together": write, "operations": both},
    ]
    for kind in ("read", "write"):
        alone = [operation(0.5 * index, kind, size) for index in range(5)]
        cases.append({"read": read, "write": write, "together": None, "operations": alone})
    return cases


def at_random(count: int) -> list[dict[str, Any]]:
    source = random.Random("disks")
    cases = []
    for _ in range(count):
        read, write = (source.randrange(1, 40) * 25 * 10**9 for _ in range(2))
        together = source.choice([None, None, read + write, min(read, write), (read + write) * 3 // 4])
        operations = [
            operation(
                source.choice([0.0, 0.0, source.randrange(0, 4000) / 1000]),
                source.choice(["read", "write"]),
                source.randrange(10**11, 10**13),
                source.choice([1.0, 1.0, 1.0, 2.0, 0.5]),
            )
            for _ in range(source.randrange(2, 12))
        ]
        cases.append({"read": read, "write": write, "together": together, "operations": operations})
    return cases


def measure(case: dict[str, Any], answers: Queue[list[float]]) -> None:
    """Run one case; SimGrid has one engine for each process."""
    from simgrid import Actor, Disk, Engine, NetZone, this_actor  # type: ignore[import-not-found]

    engine = Engine([sys.argv[0], "--log=root.threshold:error"])
    zone = NetZone.create_full_zone("zone")
    host = zone.create_host("host", 1e9)
    disk = host.create_disk("disk", float(case["read"]), float(case["write"]))
    if case["together"] is not None:
        capacity = float(case["together"])
        disk.set_sharing_policy(Disk.Operation.READWRITE, Disk.SharingPolicy.NONLINEAR, lambda _capacity, _count: capacity)
    host.seal()
    zone.seal()
    finish = [0.0] * len(case["operations"])

    def operate(index: int, each: dict[str, Any]) -> None:
        this_actor.sleep_until(each["start"])
        (disk.read if each["kind"] == "read" else disk.write)(each["bytes"], each["priority"])
        finish[index] = Engine.clock

    for index, each in enumerate(case["operations"]):
        Actor.create(f"actor{index}", host, operate, index, each)
    engine.run()
    answers.put(finish)


def main() -> None:
    cases = by_hand() + at_random(60)
    for case in cases:
        answers: Queue[list[float]] = Queue()
        process = Process(target=measure, args=(case, answers))
        process.start()
        finishes = answers.get(timeout=60)
        case["operations"] = [
            {**each, "finish": round(finish, 12)} for each, finish in zip(case["operations"], finishes, strict=True)
        ]
        process.join()
    OUTPUT.write_bytes(gzip.compress(json.dumps(cases).encode(), mtime=0))


if __name__ == "__main__":
    main()
