"""The job of a trace whose words the tests of all RJMSs look at."""

from __future__ import annotations

from simunix.workload.job import Job, Work


def job(cores: int = 1, requested_s: float = 100, work: Work | None = None, user: int = -1) -> Job:
    """Job 7, which runs for a minute."""
    return Job(7, 0, 60, requested_s, cores, work=work, user=user)
