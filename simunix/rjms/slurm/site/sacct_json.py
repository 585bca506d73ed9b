"""Convert the output of `sacct --json` to rows of `sacct -P`, for the form of Slurm 22.05 and that of 23.11 and later.

Later releases wrap numbers as {"set": true, "infinite": false, "number": 4} and states as lists (data_parser of
slurm.schedmd.com/rest_api.html). Numbers of array elements, memory and limits keep their meaning.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError

SITE_CLOCK = "SubmitAtSite"
"""The column with the submission time by the site's own clock, which the file does not give: dates of --begin are by
that clock.
"""
PER_CPU = 1 << 63
"""The bit in a job's memory that means "of each processor" (MEM_PER_CPU in Slurm)."""


def json_rows(path: Path, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield, for each job, its position in the file, from 1, and its fields. Raises SimunixError for content that sacct
    does not print.
    """
    try:
        jobs = json.loads(text)["jobs"]
    except json.JSONDecodeError as error:
        raise SimunixError(f"{path}:{error.lineno}: no JSON: {error.msg}; give what sacct --json prints") from None
    except ValueError as error:  # Python raises ValueError for a number of too many digits
        raise SimunixError(f"{path}: no JSON: {error}; give what sacct --json prints") from None
    except (KeyError, TypeError, RecursionError):
        raise SimunixError(f"{path}: no list `jobs`; give what sacct --json prints") from None
    if not isinstance(jobs, list) or not jobs:
        raise SimunixError(f"{path}: no jobs; run sacct with -S and -E of the time that you mean")
    for position, job in enumerate(jobs, 1):
        try:
            yield position, (row := _row(job))
            yield from ((position, {"JobID": f"{row['JobID']}.{step}"}) for step in range(len(job.get("steps", ()))))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, OSError) as error:
            what = f"{type(error).__name__}: {error}"
            raise SimunixError(f"{path}: job {position} of the list `jobs` is none of sacct's: {what}") from None


def _row(job: Mapping[str, Any]) -> dict[str, str]:
    times, required = job["time"], job["required"]
    return {
        "JobID": _id(job),
        "JobName": _text(job["name"]),
        "User": _text(job["user"]),
        "Group": _text(job["group"]),
        "Account": _text(job["account"]),
        "Partition": _text(job["partition"]),
        "QOS": _text(job["qos"]),
        "Submit": _date(times["submission"]),
        SITE_CLOCK: "",
        "Start": _date(times["start"]),
        "End": _date(times["end"]),
        "ElapsedRaw": str(_number(times["elapsed"]) or 0),
        "Timelimit": _limit(times["limit"]),
        "ReqCPUS": str(_number(required["CPUs"]) or 0),
        "AllocCPUS": _of_type(job["tres"]["allocated"], "cpu"),
        "ReqMem": _memory(required),
        "ReqTRES": ",".join(_tres(job["tres"]["requested"])),
        "Constraints": _text(job.get("constraints")),
        "Licenses": _text(job.get("licenses")),
        "Reservation": _text(job["reservation"]["name"]),
        "State": " ".join(_list(job["state"]["current"])[:1]),
        "ExitCode": _exit_code(job["exit_code"], job["state"]["current"]),
        "NodeList": _text(job["nodes"]),
        "SubmitLine": _text(job.get("submit_line")),
    }


def _number(value: Any) -> int | None:
    """Return a number in either form; None if it is not set or infinite."""
    if isinstance(value, Mapping):
        return int(value["number"]) if value.get("set", True) and not value.get("infinite") else None
    return None if value is None else int(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _date(value: Any) -> str:
    """Return a moment as a date in UTC, since the file gives no other clock; "Unknown" for no moment."""
    seconds = _number(value)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S") if seconds else "Unknown"


def _limit(value: Any) -> str:
    minutes = _number(value)
    if minutes is None or minutes >= 0xFFFFFFFE:
        return "UNLIMITED"
    return f"{minutes // 1440}-{minutes // 60 % 24:02}:{minutes % 60:02}:00"


def _id(job: Mapping[str, Any]) -> str:
    """Return the job's number, or NUMBER_INDEX for an element of a job array, or NUMBER_[RANGE] for elements that never
    started.
    """
    array = job["array"]
    element, waiting = _number(array["task_id"]), _text(array["task"])
    if element is not None and array["job_id"]:
        return f"{array['job_id']}_{element}"
    return f"{job['job_id']}_[{waiting}]" if waiting else str(int(job["job_id"]))


def _tres(entries: list[Mapping[str, Any]]) -> Iterator[str]:
    for entry in entries:
        name = f"{entry['type']}/{entry['name']}" if entry.get("name") else str(entry["type"])
        if (count := _number(entry["count"])) is not None:
            yield f"{name}={count}{'M' if name == 'mem' else ''}"


def _of_type(entries: list[Mapping[str, Any]], kind: str) -> str:
    return next((str(_number(entry["count"]) or 0) for entry in entries if entry["type"] == kind), "0")


def _memory(required: Mapping[str, Any]) -> str:
    """Return the memory in MiB of each node (n) or processor (c); "" if the job asked for none."""
    for name, unit in (("memory_per_cpu", "c"), ("memory_per_node", "n")):
        if (mebibytes := _number(required.get(name))) is not None and mebibytes > 0:
            return f"{mebibytes}M{unit}"
    memory = _number(required.get("memory")) or 0
    if memory % PER_CPU == 0:
        return ""
    return f"{memory % PER_CPU}M{'c' if memory < 0 or memory >= PER_CPU else 'n'}"


def _exit_code(code: Mapping[str, Any], state: Any) -> str:
    """Return CODE:SIGNAL. Slurm 22.05 prints 0 for a job that failed with another code; then 1 is returned."""
    sent = code.get("signal") or {}
    number, signal = _number(code.get("return_code")) or 0, _number(sent.get("id", sent.get("signal_id"))) or 0
    return f"{number or int(not signal and 'FAILED' in _list(state))}:{signal}"
