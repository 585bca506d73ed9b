"""The columns of a job table, and which texts each may contain. docs/generated_from/job_table.yaml explains their
meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from simunix.workload.formats import durations
from simunix.workload.request import DEPENDENCY

_TIME = r"(?:\d{1,9}-)?\d{1,9}(?::\d{1,9}){0,2}(?:\.\d{1,9})?"
_SECONDS = r"\d{1,14}(?:\.\d{1,9})?"
_NUMBER = r"\d{1,15}"
_NAME = r"[^\s,;:|/\"'\\\x00-\x1f-][^\s,;:|/\"'\\\x00-\x1f]{0,79}"
_LIST = r"[^\s\x00-\x1f-][^\s\x00-\x1f]{0,999}"
_TEXT = r"[^\x00-\x1f\x7f]{0,1000}"
_DATE = r"\d[\d:T.+Z -]{0,39}|Unknown|None|N/A"
UNKNOWN_LIMITS = ("Partition_Limit", "INVALID")


@dataclass(frozen=True, slots=True)
class Column:
    """The texts that a column may contain: a regular expression, and a description for messages."""

    pattern: re.Pattern[str]
    expected: str


def _column(pattern: str, expected: str) -> Column:
    return Column(re.compile(pattern), expected)


COLUMNS: dict[str, Column] = {
    "JobID": _column(r"\d{1,15}(?:_\d{1,9}|\+\d{1,4})?", "a job's number such as 17, 17_3 (of an array) or 17+1"),
    "JobName": _column(_TEXT, "a text of one line"),
    "User": _column(_NAME, "a user's name"),
    "Group": _column(_NAME, "a group's name"),
    "Account": _column(_NAME, "an account"),
    "Partition": _column(_LIST, "partitions, separated by commas"),
    "QOS": _column(_NAME, "a QOS"),
    "Submit": _column(_DATE, "a date such as 2024-02-29T12:00:00, or seconds"),
    "Start": _column(_DATE, "a date such as 2024-02-29T12:00:00, or seconds"),
    "End": _column(_DATE, "a date such as 2024-02-29T12:00:00, or seconds"),
    "ElapsedRaw": _column(_SECONDS, "seconds"),
    "Elapsed": _column(_TIME, durations.EXPECTED),
    "Timelimit": _column(rf"{_TIME}|UNLIMITED|{'|'.join(UNKNOWN_LIMITS)}", durations.EXPECTED + " or UNLIMITED"),
    "TimelimitRaw": _column(rf"{_SECONDS}|UNLIMITED|{'|'.join(UNKNOWN_LIMITS)}", "minutes or UNLIMITED"),
    "TimeMin": _column(_TIME, durations.EXPECTED),
    "ReqCPUS": _column(_NUMBER, "a whole number"),
    "AllocCPUS": _column(_NUMBER, "a whole number"),
    "ReqNodes": _column(r"\d{1,6}(?:-\d{1,6})?", "a number of nodes, or a range such as 2-4"),
    "NTasks": _column(r"[1-9]\d{0,8}", "a whole number from 1 up"),
    "NTasksPerNode": _column(r"[1-9]\d{0,8}", "a whole number from 1 up"),
    "CPUsPerTask": _column(r"[1-9]\d{0,8}", "a whole number from 1 up"),
    "ReqMem": _column(r"\d{1,12}(?:\.\d{1,3})?[KMGTP]?[cn]?", "memory such as 4G, with c behind it per core"),
    "Gres": _column(_LIST, "generic resources of each node, such as gpu:a100:2"),
    "ReqTRES": _column(_LIST, "resources of the whole job, such as cpu=4,gres/gpu=2"),
    "Constraints": _column(r"[^\x00-\x1f\x7f-][^\x00-\x1f\x7f]{0,999}", "features of nodes, such as a100&ib"),
    "Licenses": _column(_LIST, "licences, such as matlab:2"),
    "Reservation": _column(_LIST, "reservations, separated by commas"),
    "Exclusive": _column(r"yes|no|user|mcs|topo", "yes, no, user, mcs or topo"),
    "Nice": _column(r"-?\d{1,10}", "a whole number"),
    "Dependency": _column(DEPENDENCY, "conditions such as afterok:17:18,singleton"),
    "Array": _column(r"[\d,:-]{0,999}(?:%[1-9]\d{0,8})?", "elements and how many at once, such as 1-9%2"),
    "Begin": _column(rf"\+{_SECONDS}", "seconds after the submission, such as +3600"),
    "Hold": _column(rf"yes|no|{_SECONDS}", "yes, no, or the seconds after which the job is released"),
    "CancelAfter": _column(_SECONDS, "seconds after the submission"),
    "Requeue": _column(r"yes|no", "yes or no"),
    "State": _column(r"[A-Z_]+(?: by \S+)?", "a state such as COMPLETED"),
    "ExitCode": _column(r"\d{1,3}:\d{1,3}", "exit code and signal, such as 1:0"),
    "Restarts": _column(_NUMBER, "a whole number"),
    "NodeList": _column(_LIST, "nodes, such as n[1-4]"),
    "Steps": _column(
        rf"{_SECONDS}\+{_SECONDS}x[1-9]\d{{0,8}}(?: {_SECONDS}\+{_SECONDS}x[1-9]\d{{0,8}})*",
        "steps as START+SECONDSxTASKS, such as 0+60x4 65+30x1",
    ),
    "Arguments": _column(_TEXT, "words for the client that submits, quoted as for a shell"),
    "Executable": _column(_NUMBER, "a whole number"),
    "Queue": _column(_NUMBER, "a whole number"),
    "PartitionNumber": _column(_NUMBER, "a whole number"),
    "Preceding": _column(_NUMBER, "a job's number"),
    "ThinkTime": _column(_SECONDS, "seconds"),
    "CPUTime": _column(_SECONDS, "seconds"),
    "UsedMemory": _column(_SECONDS, "KiB"),
    "RequestedMemory": _column(_SECONDS, "KiB"),
}
OF_SWF = {
    "Executable": "executable",
    "Queue": "queue",
    "PartitionNumber": "partition",
    "Preceding": "preceding",
    "ThinkTime": "think_s",
    "CPUTime": "cpu_s",
    "UsedMemory": "memory_kib",
    "RequestedMemory": "requested_memory_kib",
    "ReqCPUS": "requested",
    "AllocCPUS": "allocated",
    "ElapsedRaw": "runtime_s",
}
"""The columns that hold a field of the Standard Workload Format unchanged."""
DERIVED = ("Submit", "Start", "End", "Elapsed", "TimelimitRaw", "User", "Group")
"""The columns that fields of the Standard Workload Format represent in another form."""
TEXTS = tuple(name for name in COLUMNS if name not in OF_SWF and name not in (*DERIVED, "JobID"))
"""The columns that are kept as texts, beside the fields of the Standard Workload Format."""
