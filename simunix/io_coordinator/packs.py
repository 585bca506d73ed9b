"""The algorithms MAKE-PACK and LPT (III.B of the thesis): choose which jobs run together on an I/O node, so that they
do not exceed the bandwidth of its disk.

A pack is a set of jobs that begin together. An I/O node runs its packs one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simunix.columns import number, read_columns, whole

COLUMNS = ("number", "processors", "compute", "bytes", "phases")
UNLIMITED = float("inf")


class JobsError(Exception):
    """The error that a file of jobs is malformed, or that a job fits into no pack."""


@dataclass(frozen=True, slots=True)
class PeriodicJob:
    """A job that alternates between computing and writing; each phase has a fixed number of seconds and of bytes."""

    number: int
    processors: int
    compute_s: float
    size_bytes: int
    phases: int

    def io_s(self, bandwidth: float) -> float:
        """Return the seconds of all the job's I/O, if the job has the disk to itself. `bandwidth` is in bytes per
        second.
        """
        return self.phases * self.size_bytes / bandwidth

    def alone_s(self, bandwidth: float) -> float:
        """Return the seconds that the job takes if it has the disk to itself. `bandwidth` is in bytes per second."""
        return self.phases * self.compute_s + self.io_s(bandwidth)

    def share(self, bandwidth: float) -> float:
        """Return the part of the disk's bandwidth (bytes per second) that the job needs on average."""
        return self.io_s(bandwidth) / self.alone_s(bandwidth)


@dataclass(slots=True)
class Pack:
    """Jobs that begin together on an I/O node, the longest first. `alone_s` is how many seconds the longest job takes
    if it has the disk to itself.
    """

    alone_s: float
    jobs: list[PeriodicJob] = field(default_factory=list)
    processors: int = 0
    io_s: float = 0.0

    @property
    def load(self) -> float:
        """The part of the disk's bandwidth that the jobs need while the pack runs."""
        return self.io_s / self.alone_s

    def add(self, job: PeriodicJob, bandwidth: float) -> None:
        """Add a job to the pack."""
        self.jobs.append(job)
        self.processors += job.processors
        self.io_s += job.io_s(bandwidth)


def make_packs(jobs: Iterable[PeriodicJob], processors: int, bandwidth: float, limit: float = 1.0) -> list[Pack]:
    """Distribute jobs over packs by the algorithm MAKE-PACK: each job, longest first, goes into the fullest pack with
    enough free processors and bandwidth, or into a new pack.

    The load of a pack is at most `limit`, except for a pack of a single job that exceeds it. With `limit` UNLIMITED the
    algorithm is First-Fit. Raises JobsError for a job that needs more than `processors`.
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
    """Return the packs in the order LPT (longest processing time first): each I/O node that becomes free takes the next
    pack.
    """
    return sorted(packs, key=lambda pack: (-pack.alone_s, pack.jobs[0].number))


def read_jobs(path: Path) -> list[PeriodicJob]:
    """Read jobs from a CSV file with the columns COLUMNS. Raises JobsError with file and line if the file is malformed."""
    return [PeriodicJob(*row) for row in read_columns(path, COLUMNS, (whole, whole, number, whole, whole), JobsError)]


def write_jobs(path: Path, jobs: Sequence[PeriodicJob]) -> None:
    """Write jobs to a CSV file with the columns COLUMNS."""
    lines = [",".join(COLUMNS)]
    lines += [f"{job.number},{job.processors},{job.compute_s!r},{job.size_bytes},{job.phases}" for job in jobs]
    path.write_text("\n".join(lines) + "\n")
