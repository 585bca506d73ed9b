"""What Slurm itself recorded of its jobs: the text file of jobcomp/filetxt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

_KEY = re.compile(r"(?:^|\s)([A-Z][A-Za-z]*)=")
_NUMBER = re.compile(r"\(\d+\)$")


@dataclass(frozen=True, slots=True)
class CompletedJob:
    """A line of jobcomp: times in seconds since the Unix epoch (Slurm's resolution is a second); None if it never started."""

    number: int
    name: str
    state: str
    submit_s: float
    start_s: float | None
    end_s: float
    nodes: str
    cores: int
    limit_s: float | None
    element: str = ""  # NUMBER_INDEX of an array's
    user: str = ""
    account: str = ""


def parse_jobcomp(lines: Iterable[str]) -> dict[str, CompletedJob]:
    """All jobs of the file by their number, elements of arrays by NUMBER_INDEX; of a requeued job the last line counts."""
    jobs = (parse_line(line) for line in lines if line.startswith("JobId="))
    return {job.element or str(job.number): job for job in jobs}


def parse_line(line: str) -> CompletedJob:
    """One line `JobId=1 UserId=… Name=… JobState=…`; values may hold spaces.

    A job that was cancelled while it waited has a StartTime, its end, and no nodes.
    """
    keys = list(_KEY.finditer(line))
    ends = [key.start() for key in keys[1:]] + [len(line)]
    values = {key[1]: line[key.end() : end].strip() for key, end in zip(keys, ends, strict=True)}
    nodes = values["NodeList"].replace("(null)", "")
    return CompletedJob(
        int(values["JobId"]),
        values["Name"],
        values["JobState"],
        _moment(values["SubmitTime"]) or 0.0,
        _moment(values["StartTime"]) if nodes else None,
        _moment(values["EndTime"]) or 0.0,
        nodes,
        int(values["ProcCnt"]),
        _limit(values["TimeLimit"]),
        f"{values['ArrayJobId']}_{values['ArrayTaskId']}" if "ArrayTaskId" in values else "",
        _NUMBER.sub("", values.get("UserId", "")),
        values.get("Account", "").replace("(null)", ""),
    )


def _moment(text: str) -> float | None:
    """The hosts' time zone is UTC."""
    if not text[:1].isdigit():
        return None
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def _limit(text: str) -> float | None:
    return float(text) * 60 if text.isdigit() else None
