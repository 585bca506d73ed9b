"""MAKE-PACK and LPT (III.B): which jobs run together on an I/O node, so that its disk is not asked for more than it has.

A pack is a set of jobs that begin together; packs of an I/O node run one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simunix.columns import number, read_columns, whole

COLUMNS = ("number", "processors", "compute", "bytes", "phases")
UNLIMITED = float("inf")


class JobsError(Exception):
    """A file of jobs that cannot be read, or a job that fits nowhere."""


@dataclass(frozen=True, slots=True)
class PeriodicJob:
    """A job that computes and writes in turns: seconds and bytes of each of its phases."""

    number: int
    processors: int
    compute_s: float
    size_bytes: int
    phases: int

    def io_s(self, bandwidth: float) -> float:
        """All its I/O, on a disk of its own."""
        return self.phases * self.size_bytes / bandwidth

    def alone_s(self, bandwidth: float) -> float:
        """How long it takes on a disk of its own."""
        return self.phases * self.compute_s + self.io_s(bandwidth)

    def share(self, bandwidth: float) -> float:
        """The part of a disk's bandwidth that it needs on average."""
        return self.io_s(bandwidth) / self.alone_s(bandwidth)


@dataclass(slots=True)
class Pack:
    """Jobs that begin together, the longest first; `alone_s` is how long that one takes alone."""

    alone_s: float
    jobs: list[PeriodicJob] = field(default_factory=list)
    processors: int = 0
    io_s: float = 0.0

    @property
    def load(self) -> float:
        """The part of the disk that the jobs need while the pack runs."""
        return self.io_s / self.alone_s

    def add(self, job: PeriodicJob, bandwidth: float) -> None:
        """Have a job begin with the others."""
        self.jobs.append(job)
        self.processors += job.processors
        self.io_s += job.io_s(bandwidth)


def make_packs(jobs: Iterable[PeriodicJob], processors: int, bandwidth: float, limit: float = 1.0) -> list[Pack]:
    """MAKE-PACK: by decreasing duration each job goes into the fullest pack that has room, else into a new one.

    The load of no pack is above `limit`, but for a job that is above it alone. UNLIMITED makes that First-Fit. Raises JobsError
    for a job of more processors than there are.
    """
    packs: list[Pack] = []
    for job in sorted(jobs, key=lambda job: (-job.alone_s(bandwidth), job.number)):
        if job.processors > processors:
            raise JobsError(f"job {job.number} needs {job.processors} processors of {processors}")
        packs.sort(key=lambda pack: -pack.processors)
        for pack in packs:
            has_disk = job.io_s(bandwidth) <= (limit - pack.load) * pack.alone_s * (1 + 1e-12)
            if has_disk and job.processors <= processors - pack.processors:
                break
        else:
            pack = Pack(job.alone_s(bandwidth))
            packs.append(pack)
        pack.add(job, bandwidth)
    return packs


def longest_first(packs: Iterable[Pack]) -> list[Pack]:
    """LPT: whichever I/O node is free gets the first of these."""
    return sorted(packs, key=lambda pack: (-pack.alone_s, pack.jobs[0].number))


def read_jobs(path: Path) -> list[PeriodicJob]:
    """Read a CSV file with COLUMNS. Raises JobsError with file and line."""
    return [PeriodicJob(*row) for row in read_columns(path, COLUMNS, (whole, whole, number, whole, whole), JobsError)]


def write_jobs(path: Path, jobs: Sequence[PeriodicJob]) -> None:
    """Write such a file."""
    lines = [",".join(COLUMNS)]
    lines += [f"{job.number},{job.processors},{job.compute_s!r},{job.size_bytes},{job.phases}" for job in jobs]
    path.write_text("\n".join(lines) + "\n")
