"""A synthetic application that alternates between computing (a sleep) and writing a number of bytes.

At the end the application prints one line: its number, its duration in seconds, and its stretch (duration divided by
its duration without others).
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path

from simunix.io_coordinator.client import NS, Coordinated
from simunix.io_coordinator.wire import NO_GROUP


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m simunix.io_coordinator.periodic", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "number", type=int, help="number of the application; of equal applications, the one with the lowest number is first"
    )
    parser.add_argument("compute", type=float, help="seconds of each computing phase")
    parser.add_argument("bytes", type=int, help="of each I/O phase")
    parser.add_argument("phases", type=int)
    parser.add_argument("--file", type=Path, required=True, help="file that each I/O phase writes from its beginning")
    parser.add_argument(
        "--bandwidth",
        type=float,
        required=True,
        help="bytes per second of the disk without other applications, from which the stretch is computed",
    )
    parser.add_argument(
        "--coordinator",
        metavar="ADDRESS",
        help="address of the I/O coordinator, HOST:PORT or unix:PATH; by default, no coordinator is asked",
    )
    parser.add_argument("--group", default=NO_GROUP)
    parser.add_argument("--orders", type=Path, help="file with a number for each phase, one per line, for the policy order")
    parser.add_argument(
        "--noise", type=float, default=0.0, help="relative size of the noise of phases, uniformly distributed: 0.2 is 20 %%"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the noise, together with the application's number")
    return parser


def phases_of(compute_s: float, size_bytes: int, count: int, noise: float, seed: str) -> list[tuple[int, int]]:
    """Return the nanoseconds of computing and the bytes of each I/O phase. The noise depends on the seed alone, not on
    the run.
    """
    rng = random.Random(seed)
    return [
        (
            round(compute_s * NS * (1 + rng.uniform(-noise, noise))),
            max(1, round(size_bytes * (1 + rng.uniform(-noise, noise)))),
        )
        for _ in range(count)
    ]


def main(words: Sequence[str] | None = None) -> None:
    """Run the application; return the exit code."""
    options = _parser().parse_args(words)
    seed = f"{options.seed}/{options.number}"
    phases = phases_of(options.compute, options.bytes, options.phases, options.noise, seed)
    orders = [int(line) for line in options.orders.read_text().split()] if options.orders else [0] * options.phases
    alone_s = sum(compute_ns / NS + size / options.bandwidth for compute_ns, size in phases)
    data = bytes(max(size for _, size in phases))
    fd = os.open(options.file, os.O_WRONLY | os.O_CREAT, 0o644)
    begin_ns = time.monotonic_ns()
    application = Coordinated(options.coordinator, options.number, alone_s, options.group)
    for (compute_ns, size), order in zip(phases, orders, strict=True):
        time.sleep(compute_ns / NS)
        with application.phase(size, order):
            application.write(fd, memoryview(data)[:size], 0)
    took_s = (time.monotonic_ns() - begin_ns) / NS
    application.close()
    print(f"{options.number} {took_s:.9f} {took_s / alone_s:.9f}", flush=True)


if __name__ == "__main__":
    main()
