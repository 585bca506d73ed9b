"""Read what Grid Engine recorded of its jobs: the accounting(5) file, and which hosts each parallel job had."""

from __future__ import annotations

from collections.abc import Iterable

from simunix.rjms.adapter import CompletedJob
from simunix.rjms.requeues import by_number

QUEUE, HOST, OWNER, NAME, NUMBER, ACCOUNT, SUBMITTED, STARTED, ENDED, FAILED, EXIT = 0, 1, 3, 4, 5, 6, 8, 9, 10, 11, 12
SLOTS, TASK, CATEGORY = 34, 35, 39
"""The indices of the fields slots, task number and category in a line of accounting(5)."""
NO_ACCOUNT = "sge"
_STATES = {37: "TIMEOUT", 100: "CANCELLED"}
"""The final state by the field `failed` of accounting(5). 37: the job reached its h_rt; 100: a signal ended the running
job, as qdel sends one.
"""
_LIMIT = "h_rt="


def parse(accounting: Iterable[str], allocations: Iterable[str] = ()) -> dict[str, CompletedJob]:
    """Return all jobs by number, elements of job arrays by NUMBER_INDEX. If a job ran again, its last line counts.

    `allocations` are lines JOB.TASK HOST SLOTS HOST SLOTS …; a job without such a line ran only on the host in its
    accounting.
    """
    hosts = dict(_allocation(line) for line in allocations if line.strip())
    jobs = (_job(line.rstrip("\n").split(":"), hosts) for line in accounting if line.strip() and not line.startswith("#"))
    return by_number(jobs)


def _allocation(line: str) -> tuple[str, str]:
    job, *words = line.split()
    return job, ",".join(words[::2])


def _job(fields: list[str], hosts: dict[str, str]) -> CompletedJob:
    number, task = int(fields[NUMBER]), int(fields[TASK])
    started = float(fields[STARTED])
    return CompletedJob(
        number=number,
        name=fields[NAME],
        state=_state(fields),
        submit_s=float(fields[SUBMITTED]),
        start_s=started or None,
        end_s=float(fields[ENDED]),
        nodes=hosts.get(f"{number}.{task or 1}", fields[HOST]) if started else "",
        cores=int(fields[SLOTS]),
        limit_s=_limit(fields[CATEGORY]),
        element=f"{number}_{task}" if task else "",
        user=fields[OWNER],
        account="" if fields[ACCOUNT] == NO_ACCOUNT else fields[ACCOUNT],
        partition=fields[QUEUE] if started else "",
    )


def _limit(category: str) -> float | None:
    """Return the limit h_rt, in seconds, that a job asked for, from the category field of accounting(5); None if it
    asked for none.
    """
    for word in category.replace(",", " ").split():
        if word.startswith(_LIMIT):
            return float(word.removeprefix(_LIMIT))
    return None


def _state(fields: list[str]) -> str:
    """Return the job's final state in the words that simunix uses for all RJMSs. Grid Engine records only the number
    `failed` and the exit status.
    """
    failed = int(fields[FAILED])
    if failed:
        return _STATES.get(failed, "NODE_FAIL")
    return "COMPLETED" if int(fields[EXIT]) == 0 else "FAILED"
