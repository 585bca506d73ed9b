"""Changes that `simunix ctl` asks for, as the server reads them from a message."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from rsg_server.edge.requests import changes
from rsg_server.errors import SimunixError
from rsg_server.faults.changes import (
    KINDS,
    Change,
    ClockChange,
    DriftChange,
    Heal,
    HostChange,
    LinkChange,
    Loss,
    Partition,
    PowerStateChange,
    ProcessChange,
    StorageChange,
)

EXAMPLES: list[Change] = [
    HostChange("node1", "off"),
    ProcessChange("node1", "server", "stopped"),
    LinkChange("node1", bandwidth_bytes_per_s=1e6, latency_s=0.02, is_up=True, loss=0.5),
    StorageChange(
        "nfs1", "disk", condition="full", read_bytes_per_s=1e6, write_bytes_per_s=2e6, readwrite_bytes_per_s=3e6, latency_s=0.1
    ),
    Partition(("a", "b"), ("c",)),
    Loss(("a",), 0.05, ("b",)),
    Heal(("a",), ("b",)),
    PowerStateChange("node1", 2),
    ClockChange("node1", -(10**9)),
    DriftChange("node1", -0.5),
]


def message(change: Change) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps({"kind": type(change).__name__} | asdict(change)))
    return found


@pytest.mark.parametrize("change", EXAMPLES, ids=lambda change: type(change).__name__)
def test_a_change_comes_as_it_was_sent(change: Change) -> None:
    assert changes({"op": "change", "changes": [message(change)]}) == [change]


def test_there_is_an_example_of_every_change() -> None:
    assert {type(change).__name__ for change in EXAMPLES} == set(KINDS)


def test_a_condition_that_no_storage_has_is_refused() -> None:
    with pytest.raises(
        SimunixError, match="StorageChange: condition: expected ok, read-only, full, failing, or null, got 'tired'"
    ):
        changes({"op": "change", "changes": [{"kind": "StorageChange", "host": "a", "storage": "b", "condition": "tired"}]})
