"""Functions for all adapters: the name and the limit of a trace's job in the RJMS, and how to find waiting jobs by
name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from simunix.workload.job import Job

MARGIN_S = 60
"""The seconds that are added to a job's time limit, so that a job which needs exactly its limit is not cut off."""


def job_name(job_id: int) -> str:
    """Return the name that a trace's job gets in the RJMS, by which its accounting is found."""
    return f"swf-{job_id}"


def limit_s(job: Job) -> float | None:
    """Return the time limit in seconds for a job, for an RJMS that counts in seconds; None for no limit."""
    return None if math.isinf(job.requested_s) else math.ceil(job.requested_s) + MARGIN_S


def find_held(question: str, rules: str, names: Sequence[str], order: str = "sort -n") -> str:
    """Return a shell command that prints the numbers of the held jobs with these names, in the order of their
    submission.

    `question` is a shell command that prints facts about jobs. `rules` are awk rules that print the numbers; in them,
    `NAME in known` tests whether a name is one of the given ones.
    """
    begin = "BEGIN { split(wanted, names); for (i in names) known[names[i]] = 1 }"
    return f"{question} | awk -v wanted='{' '.join(names)}' '{begin} {rules}' | {order}"
