"""Restore the context of a workload: the jobs that ran or waited when the window begins (`simunix workload cut
--context`).

The submitting program submits the waiting jobs held (simunix.planning.submitting.submit_plan). When the window begins, another
program on its host asks the RJMS which jobs run and which wait, records the answer, and releases the waiting jobs. If
the state then differs from the trace's, the run is not valid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from simunix.launch.plan import FileSpec, ProcessSpec
from simunix.launch.run_directory import RunDirectory
from simunix.planning.submission import WORKLOAD_FOLDER, WorkloadPlan
from simunix.rjms.adapter import Clients

if TYPE_CHECKING:
    from simunix.workload.transforms.context import Context

NS = 10**9
STATES, PROGRAM = "context.states", "context.sh"
SEPARATOR = "|"
LONGEST_LIST = 3
AT_ONCE = 1000
"""The most job names in one command line: more would exceed 128 KiB, Linux's limit for one argument (execve(2))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """The parts that the context of a workload adds to a plan. `running` and `waiting` map a job's number to the number
    of cores that the job asks for.
    """

    workload: WorkloadPlan
    begin_s: float
    t0_ns: int
    running: Mapping[int, int]
    waiting: Mapping[int, int]
    process: ProcessSpec
    program: FileSpec


def plan_contexts(workloads: Sequence[WorkloadPlan]) -> tuple[ContextPlan, ...]:
    """Plan how to restore the contexts of the workloads that have one. Raises SimunixError."""
    return tuple(_plan(workload, workload.context) for workload in workloads if workload.context is not None)


def _plan(workload: WorkloadPlan, context: Context) -> ContextPlan:
    cores = {job.id: job.cores for job in workload.jobs}
    missing = [number for number in (*context.running, *context.waiting) if number not in cores]
    if missing:
        raise SimunixError(
            f"{workload.trace}: job {missing[0]} of its context is not submitted "
            "(begin, end or max_jobs leave it out, or its size or times are unknown); cut the window from the trace instead"
        )
    t0_ns = workload.section.start + round(context.settle_s * NS)
    path = f"{WORKLOAD_FOLDER}/{PROGRAM}"
    return ContextPlan(
        workload=workload,
        begin_s=context.begin_s,
        t0_ns=t0_ns,
        running={number: cores[number] for number in context.running},
        waiting={number: cores[number] for number in context.waiting},
        process=ProcessSpec(
            "context",
            workload.host,
            ("/bin/sh", path),
            t0_ns,
            environment=dict(workload.cluster.environment),
            is_workload=True,
        ),
        program=FileSpec(workload.host, path, program(workload.cluster.rjms.clients, context.waiting).encode()),
    )


def program(clients: Clients, waiting: Sequence[int]) -> str:
    """Write the script that records the state of all jobs, and then releases the held ones in the order of their submission."""
    states = f"{clients.states} > {WORKLOAD_FOLDER}/{STATES}\n"
    return states + "".join(_release(clients, waiting[first : first + AT_ONCE]) for first in range(0, len(waiting), AT_ONCE))


def _release(clients: Clients, jobs: Sequence[int]) -> str:
    held = clients.find_held([clients.job_name(number) for number in jobs])
    return f'set -- $({held})\n[ $# -eq 0 ] || {" ".join(clients.release_all)} "$@"\n'


def check_context(context: ContextPlan, directory: RunDirectory) -> dict[str, Any]:
    """Return the entry of run.json for a workload's context: whether the context was `established` (its jobs ran or
    waited as in the trace when the window began), and the reasons if not.
    """
    folder = directory.private(context.workload.host, WORKLOAD_FOLDER)
    reasons = judge(context, folder / STATES)
    return {
        "workload": context.workload.label,
        "t0_s": context.t0_ns / NS,
        "running": list(context.running),
        "waiting": list(context.waiting),
        "established": not reasons,
        "reasons": reasons,
    }


def judge(context: ContextPlan, states: Path) -> list[str]:
    """Return why the jobs at the beginning of the window were not in the trace's state; [] if they were."""
    try:
        lines = states.read_text().splitlines()
    except OSError:
        return [f"the run ended before T0 = {context.t0_ns / NS:g} s"]
    found = {name: (state, cores) for name, state, cores in (line.rsplit(SEPARATOR, 2) for line in lines)}
    wrong: dict[str, list[int]] = {}
    clients = context.workload.cluster.rjms.clients
    for wanted, jobs in ((clients.running, context.running), (clients.pending, context.waiting)):
        for number, cores in jobs.items():
            state, has = found.get(clients.job_name(number), ("not in the queue", ""))
            if state != wanted:
                wrong.setdefault(f"{wanted.lower()} at T0 expected, {state.lower().replace('_', ' ')}", []).append(number)
            elif wanted == clients.running and int(has) < cores:
                wrong.setdefault("on fewer cores than it asks for", []).append(number)
    return [f"{_jobs(numbers)}: {reason}" for reason, numbers in wrong.items()]


def _jobs(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:LONGEST_LIST]))
    more = f" and {len(numbers) - LONGEST_LIST} others" if len(numbers) > LONGEST_LIST else ""
    return f"job{'s' if len(numbers) > 1 else ''} {shown}{more}"
