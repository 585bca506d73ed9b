"""A workload with a context (`simunix workload cut --context`) in a run: restored, and checked at the moment of its replay.

The submitter gets the waiting jobs to submit them held. At T0 a program of its own on the same host asks the RJMS what runs and
what waits, writes that down, and releases the waiting jobs. A run whose context was not established by then is not valid: its
replay began in another state than the trace's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError
from simunix.launch.plan import FileSpec, ProcessSpec
from simunix.launch.run_directory import RunDirectory
from simunix.rjms.slurm import clients
from simunix.scenario.submission import WORKLOAD_FOLDER, WorkloadPlan

TYPE_OF_TRACE = ".swf"
NS = 10**9
STATES, PROGRAM = "context.states", "context.sh"
SEPARATOR = "|"
LONGEST_LIST = 3


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """What a context adds to a plan; `cores` that each of its jobs asks for, by number, running and waiting ones."""

    workload: WorkloadPlan
    begin_s: float
    t0_ns: int
    running: Mapping[int, int]
    waiting: Mapping[int, int]
    process: ProcessSpec


def plan_contexts(workloads: Sequence[WorkloadPlan]) -> tuple[tuple[WorkloadPlan, ...], tuple[ContextPlan, ...]]:
    """The workloads, with waiting jobs held, and what restores the contexts of those that have one. Raises SimunixError."""
    found = [(workload, _context(workload)) for workload in workloads]
    contexts = tuple(context for _, context in found if context is not None)
    return tuple(workload if context is None else _held(workload, context) for workload, context in found), contexts


def _context(workload: WorkloadPlan) -> ContextPlan | None:
    if TYPE_OF_TRACE not in workload.trace.suffixes:
        return None
    from simunix.workload.context import context_of
    from simunix.workload.swf import read_comments

    try:
        context = context_of(read_comments(workload.trace))
    except SimunixError as error:
        raise SimunixError(f"{workload.trace}: {error}") from error
    if context is None:
        return None
    cores = {job.id: job.cores for job in workload.jobs}
    missing = [number for number in (*context.running, *context.waiting) if number not in cores]
    if missing:
        raise SimunixError(
            f"{workload.trace}: job {missing[0]} of its context is not submitted "
            "(begin, end or max_jobs leave it out, or its size or times are unknown); cut the window from the trace instead"
        )
    t0_ns = workload.section.start + round(context.settle_s * NS)
    return ContextPlan(
        workload,
        context.begin_s,
        t0_ns,
        {number: cores[number] for number in context.running},
        {number: cores[number] for number in context.waiting},
        ProcessSpec("context", workload.host, ("/bin/sh", f"{WORKLOAD_FOLDER}/{PROGRAM}"), t0_ns, is_workload=True),
    )


def _held(workload: WorkloadPlan, context: ContextPlan) -> WorkloadPlan:
    """Its submitter's plan with `--hold` for the jobs that wait, and the program of T0."""
    files = [_with_holds(file, context) if file.path.endswith("/plan.json") else file for file in workload.files]
    program = FileSpec(workload.host, f"{WORKLOAD_FOLDER}/{PROGRAM}", _program(context).encode())
    return replace(workload, files=(*files, program))


def _with_holds(file: FileSpec, context: ContextPlan) -> FileSpec:
    plan = json.loads(file.content)
    for job in plan["jobs"]:
        if not context.waiting.keys().isdisjoint(job.get("array", [job["id"]])):
            job["argv"][1:1] = ["--hold"]
    return replace(file, content=json.dumps(plan, indent=1).encode())


def _program(context: ContextPlan) -> str:
    """Ask, write down, release."""
    states = f"squeue --noheader --states=all --format='%j{SEPARATOR}%T{SEPARATOR}%C' > {WORKLOAD_FOLDER}/{STATES}"
    names = "\n".join(clients.job_name(number) for number in context.waiting)
    loop = f"while read name; do scontrol release jobname=$name; done <<'END'\n{names}\nEND\n" if names else ""
    return f"{states}\n{loop}"


def check_context(context: ContextPlan, directory: RunDirectory) -> dict[str, Any]:
    """What became of a context, for run.json: `established`, and the reasons why not."""
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
    """Why a context was not established at T0; nothing if it was."""
    try:
        lines = states.read_text().splitlines()
    except OSError:
        return [f"the run ended before T0 = {context.t0_ns / NS:g} s"]
    found = {name: (state, cores) for name, state, cores in (line.rsplit(SEPARATOR, 2) for line in lines)}
    wrong: dict[str, list[int]] = {}
    for wanted, jobs in (("RUNNING", context.running), ("PENDING", context.waiting)):
        for number, cores in jobs.items():
            state, has = found.get(clients.job_name(number), ("not in the queue", ""))
            if state != wanted:
                wrong.setdefault(f"{wanted.lower()} at T0 expected, {state.lower().replace('_', ' ')}", []).append(number)
            elif wanted == "RUNNING" and int(has) < cores:
                wrong.setdefault("on fewer cores than it asks for", []).append(number)
    return [f"{_jobs(numbers)}: {reason}" for reason, numbers in wrong.items()]


def _jobs(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:LONGEST_LIST]))
    more = f" and {len(numbers) - LONGEST_LIST} others" if len(numbers) > LONGEST_LIST else ""
    return f"job{'s' if len(numbers) > 1 else ''} {shown}{more}"
