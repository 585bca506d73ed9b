"""The completion times that SimGrid 3.32 gave (tests/simgrid_reference), and an engine over their links and routes."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from rsg_server.network.changes import LinkEvent
from rsg_server.network.engine import FlowEngine, FlowState
from rsg_server.network.models import configured, lv08
from rsg_server.platform.link import Link, Route, SharingPolicy

FOLDER = Path(__file__).resolve().parents[3] / "simgrid_reference"
TOLERANCE = 1e-9
Case = dict[str, Any]

PROFILES = {
    "43_profile_bandwidth": [
        (3.5 * loop + at, "bandwidth", value) for loop in range(3) for at, value in ((0.5, 25e6), (1.5, 125e6))
    ],
    "44_profile_latency": [(1.0, "latency", 0.02), (3.0, "latency", 5e-5)],
    "45_profile_state": [(1.0, "state", 0.0), (2.0, "state", 1.0)],
}
"""What the files of platforms/ say (bw.profile begins again 2 s after its last line)."""


@cache
def cases() -> dict[str, Case]:
    """By `case-configuration`."""
    found: list[Case] = json.loads(gzip.decompress((FOLDER / "acceptance.json.gz").read_bytes()))
    return {f"{case['case']}-{case['config']}": case for case in found}


def links_of(case: Case) -> dict[str, Link]:
    return {
        name: Link(name, link["bandwidth"], link["latency"], SharingPolicy(link["policy"].lower()))
        for name, link in case["links"].items()
    }


def engine_of(case: Case, compatible: bool = True) -> FlowEngine:
    """Over the links and routes that the case itself names."""
    links = links_of(case)
    routes = {pair: Route(tuple(links[name] for name in names)) for pair, names in case["routes"].items()}
    settings = dict(setting.split(":", 1) for setting in case["cfg"])
    return FlowEngine(lambda source, destination: routes[f"{source}>{destination}"], configured(lv08(), settings), compatible)


def changes_of(case: Case) -> list[LinkEvent]:
    link = links_of(case).get("L")
    return [LinkEvent(time_s, link, what, value) for time_s, what, value in PROFILES.get(case["case"], ()) if link]


def run(engine: FlowEngine, case: Case, changes: list[LinkEvent]) -> list[tuple[float, str]]:
    """Finish and state of every flow, in the order of the case."""
    ordered = sorted(case["flows"], key=lambda flow: (flow["start"], flow["id"]))
    numbers = {
        flow["id"]: engine.start(flow["src"], flow["dst"], flow["bytes"], flow["start"], flow.get("rate")) for flow in ordered
    }
    for change in changes:
        engine.advance(change.time_s, inclusive=False)
        engine.change(change.what, change.link, change.value)
    engine.advance(float("inf"))
    named = {FlowState.DONE: "done", FlowState.FAILED: "NetworkFailureException"}
    return [(engine.finish_s(numbers[flow["id"]]), named[engine.state(numbers[flow["id"]])]) for flow in case["flows"]]


def worst_error(outcomes: list[tuple[float, str]], case: Case) -> float:
    """The largest relative error of those that are more than 1e-9 s off; states must be the same."""
    worst = 0.0
    for (finish, state), flow in zip(outcomes, case["flows"], strict=True):
        assert state == flow["state"], flow
        if abs(finish - flow["finish"]) > TOLERANCE:
            worst = max(worst, abs(finish - flow["finish"]) / flow["finish"])
    return worst
