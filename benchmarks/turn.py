"""What a turn costs, as a ratio to the bare hand-over of a futex between two processes on one core, in one run.

python benchmarks/turn.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIMUNIX = [sys.executable, "-m", "simunix.cli.main", "run", "--"]
REPEATS = 3


def build(name: str, folder: Path) -> Path:
    """Compile one of the C programs beside this file."""
    program = folder / name
    subprocess.run(["gcc", "-O2", "-pthread", HERE / f"{name}.c", "-o", program], check=True)
    return program


def seconds(command: list[str]) -> float:
    """Best wall time of a few runs."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - start)
    return best


def per_call_us(program: Path, kind: str, rounds: int, prefix: list[str]) -> float:
    """Microseconds of one call of a loop, start-up taken away."""
    base = seconds([*prefix, str(program), "nothing", "1"])
    return (seconds([*prefix, str(program), kind, str(rounds)]) - base) / rounds * 1e6


def main() -> None:
    """Print one line per figure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        handover = build("handover", folder)
        calls = build("calls", folder)
        bare = min(float(subprocess.check_output([handover, "100000"])) for _ in range(REPEATS)) / 1000
        turn = per_call_us(calls, "ping-pong", 10_000, SIMUNIX) / 2
        relay = per_call_us(calls, "two-processes", 200_000, SIMUNIX) / 2
        step = per_call_us(calls, "two-threads", 200_000, SIMUNIX) / 2
        rows = {
            "futex hand-over and back, one core (us)": bare,
            "turn through the server: a byte to another process that waits for it (us)": turn,
            "ratio of the two": turn / bare,
            "relay to another process: a sleep while that one is due first (us)": relay,
            "ratio of it to the hand-over": relay / bare,
            "step from thread to thread of a process: the same between two threads (us)": step,
            "sleep of a lone actor, no message (us)": per_call_us(calls, "lone-sleeper", 2_000_000, SIMUNIX),
            "trapped system call (us)": per_call_us(calls, "trap", 300_000, SIMUNIX),
            "the same call without simunix (us)": per_call_us(calls, "trap", 300_000, []),
            "the same call through the preload net (us)": per_call_us(calls, "preload", 1_000_000, SIMUNIX),
            "preloaded call with a handler: dup2 (us)": per_call_us(calls, "preload-handler", 1_000_000, SIMUNIX),
            "clock read (us)": per_call_us(calls, "clock", 3_000_000, SIMUNIX),
            "the same read without simunix (us)": per_call_us(calls, "clock", 3_000_000, []),
        }
    for text, value in rows.items():
        print(f"{text:<76}{value:10.3f}")


if __name__ == "__main__":
    main()
