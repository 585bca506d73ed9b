"""The small file by which a run reports its progress to the sweep that has started it; an environment variable names
the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from simunix.units import human_memory, human_time

VARIABLE = "SIMUNIX_PROGRESS_FILE"
ENDING = ".progress"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: seconds of virtual time and of real time, number of ended jobs and of all jobs, bytes of
    memory.
    """

    virtual_s: float
    wall_s: float
    jobs_done: int
    jobs_total: int
    memory_bytes: int

    @property
    def left_s(self) -> float | None:
        """The estimated real seconds until the end, if jobs end as fast as so far; None if no job has ended or their
        number is unknown.
        """
        if not 0 < self.jobs_done < self.jobs_total:
            return None
        return self.wall_s / self.jobs_done * (self.jobs_total - self.jobs_done)


def read_progress(path: Path) -> Progress | None:
    """Read the progress file of a run; return None if there is none."""
    try:
        return Progress(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def described(progress: Progress) -> str:
    """Describe the progress in words: virtual time, speed, jobs, time left, memory."""
    speed = progress.virtual_s / progress.wall_s if progress.wall_s else 0.0
    parts = [f"{human_time(progress.virtual_s)} virtual", f"× {speed:,.0f}"]
    if progress.jobs_total:
        parts.append(f"jobs {progress.jobs_done:,}/{progress.jobs_total:,}")
    if progress.left_s is not None:
        parts.append(f"{human_time(progress.left_s)} left")
    if progress.memory_bytes:
        parts.append(human_memory(progress.memory_bytes))
    return ", ".join(parts)
