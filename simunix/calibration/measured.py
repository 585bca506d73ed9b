"""What charged runs have measured: `cpu_costs.json` of their folders."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.processor.costs import FORMAT, Cost, point_kind
from simunix.launch.emulation import COSTS


@dataclass(frozen=True, slots=True)
class Measured:
    """What a program computed, by the points that came then; `charged_ns` is what it was charged for it in all."""

    costs: dict[str, Cost]
    charged_ns: int


def read_measured(directory: Path) -> dict[str, Measured]:
    """What a charged run has measured, by program. Raises SimunixError."""
    path = directory / COSTS
    try:
        content = json.loads(path.read_text())
    except OSError as error:
        raise SimunixError(f"{path}: {error.strerror}; name folders of runs with cpu_policy: charged") from error
    except ValueError as error:
        raise SimunixError(f"{path}: not JSON ({error}); run the scenario again") from error
    found = content.get("format") if isinstance(content, dict) else None
    if found != FORMAT:
        raise SimunixError(f"{path}: expected the format {FORMAT!r}, found {found!r}; run the scenario again with this simunix")
    return {
        program: Measured({point: Cost(*cost) for point, cost in row["calls"].items()}, row["charged_ns"])
        for program, row in content["programs"].items()
    }


def prices_of(runs: Iterable[dict[str, Measured]]) -> dict[str, dict[str, int]]:
    """Nanoseconds before one point, by program and point: the mean over all such points of all runs.

    `clock_read`, for places that are not in the table, has the mean over all places.
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
