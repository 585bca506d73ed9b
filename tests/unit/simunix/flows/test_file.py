"""Files of flows: written outcomes are JSON that gives the values back; ids must differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simunix.flows.file import FlowsError, read_flows, written

OUTCOME = st.fixed_dictionaries(
    {"id": st.text(), "finish": st.none() | st.floats(0, 1e9), "state": st.sampled_from(["done", "failed", "stalled"])}
)


@given(st.lists(OUTCOME))
def test_a_written_outcome_is_read_back_to_twelve_decimals(rows: list[dict[str, object]]) -> None:
    found = json.loads(written(rows))["flows"]
    assert [(row["id"], row["state"]) for row in found] == [(row["id"], row["state"]) for row in rows]
    for row, was in zip(found, rows, strict=True):
        assert (row["finish"] is None) == (was["finish"] is None)
        assert row["finish"] is None or row["finish"] == pytest.approx(was["finish"], rel=1e-12, abs=1e-12)


def test_two_flows_of_one_id_are_refused_with_both_places(tmp_path: Path) -> None:
    flow = {"id": "f", "src": "a", "dst": "b", "bytes": 1}
    (tmp_path / "f.json").write_text(json.dumps({"flows": [flow, {**flow, "id": "g"}, flow]}))
    with pytest.raises(FlowsError, match=r"flows\[2\].id: 'f' is also the id of flows\[0\]"):
        read_flows(tmp_path / "f.json")
