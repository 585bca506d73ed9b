"""Measure how many messages per second the C core of the server (csrc/turn) handles, without emulated processes and
without Python.

    python benchmarks/core.py [MESSAGES]

The program csrc/turn, compiled together with benchmarks/core_replay.c, handles messages that a fixed seed draws. The
first measurement mixes sleeps, waits at futexes and waits for descriptors in shares of 30, 30 and 40 per cent. The
other measurements have one kind of wait each. The script needs gcc.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ACTORS, MESSAGES, REPEATS = (16, 1024), 1_000_000, 3
MIXES = {
    "mixed": {"time": 0.3, "futex": 0.3, "descriptor": 0.4},
    "sleeps": {"time": 1.0},
    "futexes": {"futex": 1.0},
    "descriptors": {"descriptor": 1.0},
}
"""The share of each kind of wait in each mix of messages. For each wait for a descriptor, the core asks the kernel
which descriptors are ready.
"""


def build(folder: Path) -> Path:
    """Compile csrc/turn with benchmarks/core_replay.c into a folder, and return the path of the program."""
    program = folder / "core_replay"
    core = [path for path in sorted((ROOT / "csrc/turn").rglob("*.c")) if path.name != "loop.c"]
    shared = [ROOT / f"csrc/shared/{name}.c" for name in ("timer_queue", "slots", "watch")]
    sources = [ROOT / "benchmarks/core_replay.c", *core, *shared]
    subprocess.run(["gcc", "-std=gnu11", "-O2", f"-I{ROOT / 'csrc'}", *sources, "-o", program], check=True)
    return program


def seconds(program: Path, actors: int, messages: int, shares: dict[str, float]) -> float:
    """Return the real seconds that the compiled core took for the messages: the least of several runs."""
    lines = "".join(f"{kind} {share}\n" for kind, share in shares.items())
    command = [program, str(actors), str(messages)]
    runs = [subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout for _ in range(REPEATS)]
    return min(float(printed.split()[0]) for printed in runs)


def main() -> int:
    """Print a row of the table for each mix of messages; return the exit code 0."""
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        print("| messages | actors | ns a message | messages a second |\n| --- | ---: | ---: | ---: |")
        for name, shares in MIXES.items():
            for actors in ACTORS:
                took = seconds(program, actors, messages, shares)
                print(f"| {name} | {actors:,} | {took / messages * 1e9:.0f} | {messages / took / 1e6:.2f} million |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
