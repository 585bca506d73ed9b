"""Read `cpu_costs.json`, in which a run under `cpu_policy: charged` writes how long its programs computed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from rsg_server.errors import SimunixError
from rsg_server.processor.costs import FORMAT, Cost, point_kind
from simunix.calibration.prices import first_mistake
from simunix.launch.emulation import COSTS


@dataclass(frozen=True, slots=True)
class Measured:
    """How long a program computed before each kind of system call and clock read, as a charged run measured it.
    `charged_ns` is the program's total in virtual nanoseconds.
    """

    costs: dict[str, Cost]
    charged_ns: int


class _Row(BaseModel):
    charged_ns: Annotated[int, Field(ge=0)]
    calls: dict[str, tuple[Annotated[int, Field(ge=1)], int]]


class _File(BaseModel):
    programs: dict[str, _Row]


def read_measured(directory: Path) -> dict[str, Measured]:
    """Return the computing times that the run in a folder measured, by program. Raises SimunixError if the folder has
    no such file, or the file is malformed.
    """
    path = directory / COSTS
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise SimunixError(f"{path}: {error.strerror}; name folders of runs with cpu_policy: charged") from error
    except (ValueError, RecursionError) as error:
        raise SimunixError(f"{path}: not JSON ({error}); run the scenario again") from error
    found = content.get("format") if isinstance(content, dict) else None
    if found != FORMAT:
        raise SimunixError(f"{path}: expected the format {FORMAT!r}, found {found!r}; run the scenario again with this simunix")
    try:
        programs = _File.model_validate(content).programs
    except ValidationError as error:
        raise SimunixError(f"{path}: {first_mistake(error)}; run the scenario again") from error
    if not programs:
        raise SimunixError(f"{path}: no program was charged; name runs in which some computed under cpu_policy: charged")
    return {
        program: Measured({point: Cost(*cost) for point, cost in row.calls.items()}, row.charged_ns)
        for program, row in programs.items()
    }


def prices_of(runs: Iterable[dict[str, Measured]]) -> dict[str, dict[str, int]]:
    """Return the nanoseconds of computing before one call, by program and by call: the mean over all such calls of all
    runs.

    `clock_read`, which the table uses for calls that it does not list, has the mean over all calls.
    """
    total: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for run in runs:
        for program, measured in run.items():
            for point, cost in measured.costs.items():
                for name in {point, point_kind(point)}:
                    total[program][name][0] += cost.calls
                    total[program][name][1] += cost.ns
    return {program: _means(costs) for program, costs in sorted(total.items())}


def _means(costs: Mapping[str, Sequence[int]]) -> dict[str, int]:
    return {point: round(ns / calls) for point, (calls, ns) in sorted(costs.items())}
