"""A host that goes to another power state computes at another speed from then on; what is asked for by hand is checked."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from rsg_server.edge.requests import changes
from rsg_server.errors import SimunixError
from rsg_server.faults.changes import Change, PowerStateChange
from rsg_server.faults.faults import check
from rsg_server.platform.host import Host
from rsg_server.platform.star import star
from tests.unit.rsg_server.fakes import HOSTS, Fake

TWO = Host("two", (ip_address("10.0.1.1"),), speeds_flops=(2e9, 1e9, 0.0))
PLATFORM = star([*HOSTS, TWO])


def test_taken_back_after_its_time(world: Fake) -> None:
    faults = world.kernel.faults
    told: list[tuple[int, int]] = []
    faults.on_power_state.connect(lambda host, state: told.append((world.kernel.now_ns, state)))
    faults.apply(PowerStateChange("h0", 0), for_ns=5)
    world.pass_time(10)
    assert told == [(0, 0), (5, 0)] and world.kernel.log.counts["power_state"] == 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (PowerStateChange("two", 3), "power state 3: host two has power states 0 to 2"),
        (PowerStateChange("two", 2), "power state 2 of host two has speed 0, at which nothing ever ends"),
        (PowerStateChange("h0", 1), "power state 1: host h0 has power state 0 only, since it has one speed"),
        (PowerStateChange("three", 0), "host 'three': no such host"),
    ],
)
def test_a_state_that_is_not_there_is_refused(change: Change, expected: str) -> None:
    with pytest.raises(SimunixError, match=expected):
        check(PLATFORM, change)


@pytest.mark.parametrize("number", ["off", -1, 1.5, None, [0], 10**30])
def test_a_request_without_a_number_is_malformed(number: object) -> None:
    with pytest.raises(
        SimunixError, match="malformed request: PowerStateChange: number: expected a whole number up to 1000000, got"
    ):
        changes({"changes": [{"kind": "PowerStateChange", "host": "two", "number": number}]})
    assert changes({"changes": [{"kind": "PowerStateChange", "host": "two", "number": 1}]}) == [PowerStateChange("two", 1)]
