"""The script of a full queue: many sbatch commands at once, schedulers with 2,000 waiting jobs, and squeue commands at
the same time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simunix_bench.fidelity.mixed import Script

SCHEDULER = "bf_interval=5,sched_interval=5"
"""The SchedulerParameters of all arms: each scheduler has a cycle every five seconds, so that a mean is taken over
several cycles.
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How often each command is executed, and for how many seconds the schedulers are observed."""

    burst: int = 1_000
    width: int = 100
    queued: int = 2_000
    asked: int = 1_000
    askers: int = 4
    watched_s: int = 60


FULL = Sizes()
QUICK = Sizes(burst=100, width=20, queued=200, asked=100, watched_s=30)
BURST_S, MORE_S, WATCH_S = 5, 25, 45


def queue(job: Path, log: Path, sizes: Sizes = FULL) -> list[dict[str, Any]]:
    """Return the script. One job has all nodes, so that no other job starts and the commands are work for the
    controller alone.

    Jobs have priorities by their numbers: which of a hundred simultaneous sbatch commands is first depends on
    microseconds, but the length of a back-filling cycle depends on the order of the queue.
    """
    script = Script(job, log)
    script.submit(0, "filler", "-N 8 --exclusive -t 600", "sleep", 3_000)
    sbatch = ["sbatch", "-n", "{}", "-t", "{}", "-o", "/dev/null", "--wrap", "sleep 3000"]
    copies(script, BURST_S, "burst", sizes.burst, sizes.width, [*sbatch, "--priority=2{left}"])
    copies(script, MORE_S, "more", sizes.queued - sizes.burst, sizes.askers, [*sbatch, "--priority=1{left}"])
    script.give(WATCH_S, "reset", "sdiag", "-r")
    script.give(WATCH_S + sizes.watched_s, "watched", "sdiag")
    script.give(WATCH_S + sizes.watched_s, "reset-again", "sdiag", "-r")
    asking_s = WATCH_S + sizes.watched_s + 1
    copies(script, asking_s, "squeue", sizes.asked, sizes.askers, ["squeue", "-o", "%i"])
    script.give(asking_s, "asked", "sdiag")
    return script.in_order()


def copies(script: Script, at_s: float, name: str, count: int, width: int, argv: list[str]) -> None:
    """Add a command that is executed `count` times, `width` at a time."""
    script.give(at_s, name, *argv)
    script.actions[-1] |= {"copies": count, "width": width}
