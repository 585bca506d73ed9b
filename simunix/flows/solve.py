"""Compute the finish times of network flows with the network model alone, without processes and packets."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from rsg_server.network.changes import gates, link_changes, next_time
from rsg_server.network.engine import FlowEngine, FlowState
from rsg_server.network.models import Model
from rsg_server.platform.link import Route
from rsg_server.platform.platform import Platform
from simunix.flows.file import FlowRow, FlowsError

DEAD_CHANGES = 10_000
"""After this many changes of links in a row without any progress of a flow, a repeating profile is taken never to give
bandwidth again.
"""
NAMES = {FlowState.DONE: "done", FlowState.FAILED: "failed"}
SIMGRID_NAMES = {FlowState.DONE: "done", FlowState.FAILED: "NetworkFailureException"}
STALLED = "stalled"
"""The state of a flow that will never get bandwidth."""


def solve(platform: Platform, rows: Sequence[FlowRow], model: Model, compatible: bool = False) -> list[dict[str, object]]:
    """Return the `id`, `finish` and `state` of every flow, in the given order. The result does not depend on the order."""

    def route(source: str, destination: str) -> Route:
        return platform.route(platform.host_by_name(source), platform.host_by_name(destination))

    engine = FlowEngine(route, model, compatible, gates(platform))
    numbers: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: (row.start, row.id)):
        numbers[row.id] = engine.start(row.src, row.dst, row.bytes, row.start, row.rate, row.weight)
    run(engine, platform)
    names = SIMGRID_NAMES if compatible else NAMES
    outcome: list[dict[str, object]] = []
    for row in rows:
        state, finish = engine.state(numbers[row.id]), engine.finish_s(numbers[row.id])
        outcome.append({"id": row.id, "finish": finish if finish < math.inf else None, "state": names.get(state, STALLED)})
    return outcome


def run(engine: FlowEngine, platform: Platform) -> None:
    """Run until all flows have ended, while the profiles of the platform change its links and hosts over time."""
    changes = link_changes(platform)
    change = next(changes, None)
    dead = 0
    while engine.unfinished and dead < DEAD_CHANGES:
        engine.advance(next_time(change), inclusive=False)
        if change is None:
            return
        dead = dead + 1 if engine.next_s == math.inf else 0
        engine.change(change.what, change.link, change.value)
        change = next(changes, None)


def check_hosts(rows: Sequence[FlowRow], hosts: Mapping[str, object], path: Path, platform_path: Path) -> None:
    """Raise FlowsError for a flow whose source or destination is not a host of the platform."""
    for index, row in enumerate(rows):
        for key, name in (("src", row.src), ("dst", row.dst)):
            if name not in hosts:
                close = difflib.get_close_matches(name, hosts, 1)
                hint = f"did you mean {close[0]!r}?" if close else f"it has {len(hosts)} others"
                raise FlowsError(f"{path}: flows[{index}].{key}: {platform_path} has no host {name!r}; {hint}")
