"""Make the jobs to submit from the rows of a job table."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rsg_server.errors import SimunixError
from simunix.workload.formats.columns import TEXTS
from simunix.workload.formats.durations import duration_s
from simunix.workload.formats.swf import SwfRecord, SwfTrace
from simunix.workload.job import Job, SkippedJob
from simunix.workload.request import Request, Step, parts_of
from simunix.workload.transforms.selection import Selection, to_job

_STEP = re.compile(r"(\S+?)\+(\S+?)x(\d+)")
NAMES = ("User", "Group")


def _switch(text: str) -> bool:
    return text == "yes"


def _hold(text: str) -> float | None:
    return {"yes": math.inf, "no": None}[text] if text in ("yes", "no") else float(text)


def _steps(text: str) -> tuple[Step, ...]:
    return tuple(Step(float(start), float(elapsed), int(tasks)) for start, elapsed, tasks in _STEP.findall(text))


FIELDS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "JobName": ("name", str),
    "User": ("user", str),
    "Group": ("group", str),
    "Account": ("account", str),
    "Partition": ("partition", str),
    "QOS": ("qos", str),
    "Reservation": ("reservation", str),
    "Constraints": ("constraints", str),
    "Licenses": ("licenses", str),
    "ReqNodes": ("nodes", str),
    "NTasks": ("tasks", int),
    "NTasksPerNode": ("tasks_per_node", int),
    "CPUsPerTask": ("cpus_per_task", int),
    "ReqMem": ("memory", str),
    "Gres": ("gres", str),
    "ReqTRES": ("tres", str),
    "Exclusive": ("exclusive", str),
    "TimeMin": ("least_limit_s", duration_s),
    "Nice": ("nice", int),
    "Begin": ("begin_s", float),
    "Hold": ("hold_s", _hold),
    "CancelAfter": ("cancel_s", float),
    "Requeue": ("requeue", _switch),
    "Dependency": ("dependency", str),
    "Array": ("array", str),
    "State": ("state", str),
    "ExitCode": ("exit_code", str),
    "NodeList": ("node_list", str),
    "Steps": ("steps", _steps),
    "Arguments": ("arguments", lambda text: tuple(shlex.split(text))),
}
"""For each column, the field of a request, and the function that converts the column's text."""


def table_jobs(trace: SwfTrace, selection: Selection, where: str) -> tuple[list[Job], list[SkippedJob]]:
    """Return the jobs of a job table in the order of submission, and the rows that cannot be submitted. Raises
    SimunixError, beginning with `where`.
    """
    if selection.processors != 1:
        raise SimunixError(f"{where}: a job table says sizes in several columns, which cannot be scaled; leave processors out")
    columns = [name for name in (*TEXTS, *NAMES, "JobID") if name in trace.jobs]
    rows: list[dict[str, str]] = trace.jobs[columns].fillna("").to_dict("records") if columns else [{} for _ in trace.records]  # type: ignore[assignment]
    jobs: list[Job] = []
    skipped: list[SkippedJob] = []
    for record, row in zip(trace.records, rows, strict=True):
        if not selection.begin_s <= record.submit_s < selection.end_s:
            continue
        request = _request(record, row, selection.margin, where)
        if record.runtime_s < 0 and request.limit_s is None and request.cancel_s is None:
            skipped.append(SkippedJob(record.job, record.submit_s, "neither run time nor time limit is known"))
        else:
            jobs.append(_job(record, request, selection))
    jobs.sort(key=lambda job: job.submit_s)
    return jobs[: selection.max_jobs], skipped


def _job(record: SwfRecord, request: Request, selection: Selection) -> Job:
    """Return the job of a record, with the size, times and name that the job table gives."""
    limit_s = math.inf if request.limit_s is None else request.limit_s
    parts = request.element is not None or request.component is not None
    return replace(
        to_job(record, selection),
        runtime_s=record.runtime_s if record.runtime_s >= 0 else 0.0 if math.isinf(limit_s) else limit_s,
        requested_s=limit_s,
        cores=_cores(record, request),
        name=_id_text(request) if parts else "",
        request=request,
    )


def _id_text(request: Request) -> str:
    return f"{request.number}_{request.element}" if request.element is not None else f"{request.number}+{request.component}"


def _cores(record: SwfRecord, request: Request) -> int:
    """Return the number of cores asked for or, if unknown, allocated, or the number of tasks; at least 1."""
    if record.requested > 0 or record.allocated > 0:
        return record.requested if record.requested > 0 else record.allocated
    least_nodes = int(request.nodes.partition("-")[0] or 1)
    tasks = request.tasks or least_nodes * (request.tasks_per_node or 1)
    return tasks * (request.cpus_per_task or 1)


def _request(record: SwfRecord, row: Mapping[str, str], margin: float, where: str) -> Request:
    parts = parts_of(row.get("JobID", "")) or (record.job, None, None)
    number, element, component = parts
    said: dict[str, Any] = {}
    for column, (field, read) in FIELDS.items():
        if text := row.get(column, ""):
            try:
                said[field] = read(text)
            except ValueError as error:
                raise SimunixError(
                    f"{where}: job {row.get('JobID', record.job)}: {column}: {error}; mend {text!r:.80}"
                ) from None
    limit_s = record.requested_s * margin if record.requested_s >= 0 else None
    if row.get("Timelimit") == "UNLIMITED" and limit_s is None:
        limit_s = math.inf
    return Request(number=number, element=element, component=component, limit_s=limit_s, **said)
