"""The wishes of a job in a job table besides size and time: partition, account, dependencies, elements of job arrays,
and so on.

Texts are those of the table's columns (docs/reference/job-table.md); "" or None means that the table gives no value. An
RJMS's adapter turns them into options of the RJMS's client.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = ("after", "afterany", "afterok", "afternotok", "aftercorr", "afterburstbuffer", "singleton")
"""The kinds of conditions in a job's dependency, as in sbatch(1)."""
_JOB = r"\d{1,15}(?:_(?:\d{1,9}|\*))?(?:\+\d{1,9})?"
_CLAUSE = rf"(?:singleton|(?:{'|'.join(KINDS[:-1])})(?::{_JOB})+)"
DEPENDENCY = rf"{_CLAUSE}(?:,{_CLAUSE})*|{_CLAUSE}(?:\?{_CLAUSE})*"
_OTHER = re.compile(r"(\d+)(.*)")
_GPUS_OF_A_NODE = re.compile(r"(?:gres[:/])?gpu(?::[A-Za-z][^:,=]*)?(?:[:=](\d+))?")
_GPUS_OF_A_JOB = re.compile(r"(?:^|,)gres/gpu=(\d+)")
_ID = re.compile(r"(\d{1,15})(?:_(\d{1,9})|\+(\d{1,4}))?")


@dataclass(frozen=True, slots=True)
class Other:
    """Another job in a dependency: its number in the table, and the text after the number (`_3` for an element, `+10`
    for minutes).
    """

    number: int
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition of a dependency: its kind, and the jobs that it is about."""

    kind: str
    others: tuple[Other, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A job step: it begins at a moment of the job, lasts for a time, and has a number of tasks. Times are seconds."""

    start_s: float
    elapsed_s: float
    tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The wishes of a job, and how the job ended in the trace.

    `number` is the job's number in the table, `element` its index in a job array, `component` its place in a
    heterogeneous job. `limit_s` is the exact time limit; None is that of the partition, infinity is no limit.
    `begin_s`, `hold_s` (infinity: never released) and `cancel_s` count from the submission. `size` says whether the
    table gives the size in nodes or tasks.
    """

    number: int
    element: int | None = None
    component: int | None = None
    name: str = ""
    user: str = ""
    group: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    reservation: str = ""
    constraints: str = ""
    licenses: str = ""
    nodes: str = ""
    tasks: int | None = None
    tasks_per_node: int | None = None
    cpus_per_task: int | None = None
    memory: str = ""
    gres: str = ""
    tres: str = ""
    exclusive: str = ""
    limit_s: float | None = None
    least_limit_s: float | None = None
    nice: int | None = None
    begin_s: float | None = None
    hold_s: float | None = None
    cancel_s: float | None = None
    requeue: bool | None = None
    dependency: str = ""
    array: str = ""
    state: str = ""
    exit_code: str = ""
    node_list: str = ""
    steps: tuple[Step, ...] = ()
    arguments: tuple[str, ...] = ()

    @property
    def is_cut_off(self) -> bool:
        """Whether something other than the job ended its run, so that its full run time is unknown."""
        return self.state.split(" ")[0] in ("TIMEOUT", "PREEMPTED") and self.limit_s is not None and math.isfinite(self.limit_s)

    @property
    def exit_status(self) -> tuple[int, int]:
        """The exit code and the signal with which the job ends. A job that failed for an unknown reason has exit code
        1.
        """
        code, _, signal = self.exit_code.partition(":")
        if code:
            return int(code), int(signal or 0)
        return (1, 0) if self.state == "FAILED" else (0, 0)

    @property
    def array_limit(self) -> int | None:
        """The most elements of the job array that may run at one time; None for all of them."""
        _, percent, limit = self.array.partition("%")
        return int(limit) if percent else None

    def gpus(self, nodes: int) -> int | None:
        """Return the number of GPUs of the whole job on `nodes` nodes, as `gres` (for each node) or `tres` says; None
        if neither names GPUs.
        """
        found = [match for part in self.gres.split(",") if (match := _GPUS_OF_A_NODE.fullmatch(part.strip()))]
        if found:
            return nodes * sum(int(match[1] or 1) for match in found)
        whole = _GPUS_OF_A_JOB.search(self.tres)
        return int(whole[1]) if whole else None

    def clauses(self) -> tuple[Clause, ...]:
        """Return the conditions of the dependency, in the order written."""
        return tuple(_clauses(self.dependency))

    @property
    def is_any(self) -> bool:
        """Whether one fulfilled condition of the dependency suffices."""
        return "?" in self.dependency


def _clauses(text: str) -> Iterator[Clause]:
    for part in re.split("[,?]", text) if text else ():
        kind, *others = part.split(":")
        found = [_OTHER.fullmatch(other) for other in others]
        yield Clause(kind, tuple(Other(int(each[1]), each[2]) for each in found if each))


def parts_of(job_id: str) -> tuple[int, int | None, int | None] | None:
    """Return the number, the index in a job array, and the place in a heterogeneous job that an id such as `17`, `17_3`
    or `17+1` means; None for any other text.
    """
    found = _ID.fullmatch(job_id)
    if found is None:
        return None
    return int(found[1]), None if found[2] is None else int(found[2]), None if found[3] is None else int(found[3])
