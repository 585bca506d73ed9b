"""Completion times are SimGrid 3.32's own, to a nanosecond or 1e-9 of them, over the links and routes that it used."""

from __future__ import annotations

import pytest

from tests.unit.rsg_server.platform.reference import TOLERANCE, cases, changes_of, engine_of, run, worst_error

WITHOUT_ROUTES = {"27_alltoall32_crossbar", "28_alltoall32_fattree", "29_alltoall32_equal", "41_vivaldi"}
"""They need their platform: it has the routes, or latency that belongs to no link."""
NAMES = [name for name, case in cases().items() if case["case"] not in WITHOUT_ROUTES]


@pytest.mark.parametrize("name", NAMES)
def test_case(name: str) -> None:
    case = cases()[name]
    assert worst_error(run(engine_of(case), case, changes_of(case)), case) <= TOLERANCE


DIFFERENT = {
    "02_one_flow_lat0": set(),
    "12_rtt_unfair2": {"CM02", "CM02_noxt"},  # weight-S 0: equal shares, whatever the latency
    "23_gamma": {"LV08", "LV08_noxt", "SMPI"},  # the window bounds bytes, not bytes / bandwidth-factor
    "43_profile_bandwidth": set(),  # its bound is not the one that was frozen at the wrong moment
}


@pytest.mark.parametrize(
    ("name", "differs"),
    [(f"{case}-{config}", config in configs) for case, configs in DIFFERENT.items() for config in ("LV08", "CM02", "SMPI")],
)
def test_what_simgrid_does_otherwise_than_its_manual_is_only_done_in_its_mode(name: str, differs: bool) -> None:
    case = cases()[name]
    error = worst_error(run(engine_of(case, compatible=False), case, changes_of(case)), case)
    assert (error > TOLERANCE) is differs
