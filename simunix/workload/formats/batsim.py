"""Convert Batsim's workload JSON (https://batsim.readthedocs.io/en/latest/input-workload.html), of versions 4 and 5, to
and from SWF.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_path
from simunix.workload.formats.provenance import history
from simunix.workload.formats.swf import LIMIT, UNKNOWN, SwfRecord, SwfTrace, table
from simunix.workload.formats.text import read_bytes
from simunix.workload.transforms.sample import size_of
from simunix.workload.transforms.shape import PROFILE

DELAY_TYPES = {"delay": 4, "DelayProfile": 5}
"""The profile types that only take time, and the version of Batsim that uses each."""
_Seconds = Annotated[float, Field(ge=0, lt=LIMIT, allow_inf_nan=False)]
_Number = Annotated[int, Field(gt=-LIMIT, lt=LIMIT)]


class BatsimJob(BaseModel):
    """A job of a Batsim workload. `subtime` (submission) and `walltime` (limit) are seconds; `res` is the number of
    hosts.
    """

    model_config = ConfigDict(extra="allow")
    id: _Number | str
    subtime: _Seconds
    res: Annotated[int, Field(ge=1, lt=LIMIT)]
    profile: str
    walltime: _Seconds | Literal[-1] | None = None


class BatsimWorkload(BaseModel):
    """The content of a Batsim workload file. Profiles keep all their keys; which keys a profile has depends on its
    type.
    """

    model_config = ConfigDict(extra="allow")
    nb_res: Annotated[int, Field(ge=1)]
    jobs: list[BatsimJob]
    profiles: dict[str, dict[str, Any]]
    provenance: list[str] = []
    """How the workload was made. This key is an extension of simunix; Batsim ignores it."""


def read_workload(path: Path) -> BatsimWorkload:
    """Read and check a Batsim workload. Raises SimunixError with the file and the key."""
    try:
        workload = BatsimWorkload.model_validate_json(read_bytes(path, "a workload of Batsim"))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise SimunixError(f"{path}: {key + ': ' if key else ''}{first['msg']}; expected a workload of Batsim") from error
    for index, job in enumerate(workload.jobs):
        if job.profile not in workload.profiles:
            raise SimunixError(f"{path}: jobs.{index}.profile: there is no profile {job.profile!r:.60}; add it under profiles")
    for name, profile in workload.profiles.items():
        if _is_delay(profile) and not _is_time(profile.get("delay")):
            raise SimunixError(f"{path}: profiles.{name}.delay: expected seconds from 0 up, got {profile.get('delay')!r:.60}")
    return workload


def _is_delay(profile: dict[str, Any]) -> bool:
    kind = profile.get("type")
    return isinstance(kind, str) and kind in DELAY_TYPES


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LIMIT


def to_swf(workload: BatsimWorkload, source: str) -> SwfTrace:
    """Convert a Batsim workload to a trace in the order of submission. `source` is the file's name for the header.

    Jobs whose profile is not a delay have an unknown run time. If any job's id is no number, jobs are numbered from 1
    in the order of the file.
    """
    ids = [_plain_number(str(job.id)) for job in workload.jobs]
    order = sorted(range(len(workload.jobs)), key=lambda place: workload.jobs[place].subtime)
    found = [(place, workload.jobs[place]) for place in order]
    known = [number for number in ids if number is not None]
    numbers = known if len(known) == len(ids) else list(range(1, len(ids) + 1))
    records = [_record(numbers[place], job, workload.profiles[job.profile]) for place, job in found]
    counts = (f" MaxJobs: {len(records)}", f" MaxRecords: {len(records)}", f" MaxProcs: {workload.nb_res}")
    notes = (f" Note: {' '.join(line.split())}" for line in workload.provenance)
    head = (" Version: 2.2", *counts, *notes, f" Note: converted from Batsim's workload {source}")
    names = ["" if record.runtime_s >= 0 else job.profile for record, (_, job) in zip(records, found, strict=True)]
    jobs = table(records)
    return SwfTrace(head, jobs.assign(**{PROFILE: names}), workload.profiles) if any(names) else SwfTrace(head, jobs)


def _plain_number(text: str) -> int | None:
    return int(text) if re.fullmatch("[0-9]{1,15}", text) and int(text) < LIMIT else None


def _record(number: int, job: BatsimJob, profile: dict[str, Any]) -> SwfRecord:
    runtime = float(profile["delay"]) if _is_delay(profile) else float(UNKNOWN)
    walltime = float(UNKNOWN) if job.walltime is None else float(job.walltime)
    return SwfRecord(job=number, submit_s=job.subtime, runtime_s=runtime, requested=job.res, requested_s=walltime)


def write_workload(path: Path, trace: SwfTrace, version: int = 5) -> None:
    """Write the jobs of a trace as a Batsim workload. A job has the profile with which it was read, or a delay of its
    run time.

    Raises SimunixError if the submit time, size or run time of a job is unknown, or if the file cannot be written.
    """
    kind = next(name for name, number in DELAY_TYPES.items() if number == version)
    jobs = trace.jobs.assign(size=size_of(trace.jobs))
    if PROFILE not in jobs:
        jobs[PROFILE] = ""
    unknown = jobs[(jobs["size"] < 1) | ((jobs["runtime_s"] < 0) & (jobs[PROFILE] == "")) | (jobs["submit_s"] < 0)]
    if len(unknown):
        raise SimunixError(f"job {unknown['job'].iloc[0]}: its submit time, size or run time is unknown, which Batsim needs")
    hosts = max(int(trace.number("MaxProcs") or 0), int(jobs["size"].max()) if len(jobs) else 1)
    delays = {
        delay: (_name(delay, trace.profiles), {"type": kind, "delay": _number(delay)})
        for delay in jobs["runtime_s"][jobs[PROFILE] == ""].unique()
    }
    workload = {
        "description": next((note for note in reversed(_notes(trace)) if note not in history(trace)), ""),
        "nb_res": hosts,
        "provenance": history(trace),
        "jobs": [_job(row, row[PROFILE] or delays[row["runtime_s"]][0]) for _, row in jobs.iterrows()],
        "profiles": {**trace.profiles, **dict(delays.values())},
    }
    try:
        with whole_path(path) as draft:
            draft.write_text(json.dumps(workload, indent=1) + "\n")
    except OSError as error:
        raise SimunixError(unwritten(path, error)) from error


def _notes(trace: SwfTrace) -> list[str]:
    return [line.removeprefix(" Note: ") for line in trace.comments if line.startswith(" Note: ")]


def _job(row: pd.Series, profile: str) -> dict[str, object]:
    job: dict[str, object] = {"id": int(row["job"]), "subtime": _number(row["submit_s"]), "res": int(row["size"])}
    if row["requested_s"] >= 0:
        job["walltime"] = _number(row["requested_s"])
    return {**job, "profile": profile}


def _name(delay: float, taken: Container[str]) -> str:
    name = f"delay_{delay:.15g}"
    while name in taken:
        name += "_"
    return name


def _number(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)
