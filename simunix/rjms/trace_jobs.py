"""A job of a trace, as adapters tell their RJMS of it: its name, its limit, and how those that wait are found again."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simunix.workload.job import Job

MARGIN_S = 60
"""Added to a job's time limit, so that an exact request is not cut off."""


def job_name(job_id: int) -> str:
    """Return the name under which a trace's job is found again in an RJMS's accounting."""
    return f"swf-{job_id}"


def limit_s(job: Job) -> float | None:
    """Return the time limit that an RJMS that counts in seconds is told; None for no limit."""
    return None if math.isinf(job.requested_s) else math.ceil(job.requested_s) + MARGIN_S


def find_held(question: str, rules: str, names: Sequence[str], order: str = "sort -n") -> str:
    """Return a shell command that prints the numbers of the held jobs of these names, in the order of their submission.

    `question` is a shell command that tells of jobs; `rules`, of awk, print what they find there. In the rules, `NAME in known`
    says whether a name is one of those asked for.
    """
    begin = "BEGIN { split(wanted, names); for (i in names) known[names[i]] = 1 }"
    return f"{question} | awk -v wanted='{' '.join(names)}' '{begin} {rules}' | {order}"
