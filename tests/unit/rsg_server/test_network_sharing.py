"""The network model against its own promises."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.network.network import Network
from rsg_server.network.sharing import share
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, SharingPolicy
from rsg_server.platform.star import Access, star
from rsg_server.timeline import Timeline

LINKS = [Link(f"l{index}", 10.0 * (index + 1), 0) for index in range(5)] + [Link("fat", 7.0, 0, SharingPolicy.FATPIPE)]
routes = st.lists(st.lists(st.sampled_from(LINKS), min_size=1, max_size=4, unique_by=lambda link: link.name), max_size=12)


@given(routes)
def test_no_link_above_its_bandwidth_and_every_flow_held_back_somewhere(flows: list[list[Link]]) -> None:
    rates = share(flows)
    load = {link.name: sum(rate for rate, route in zip(rates, flows, strict=True) if link in route) for link in LINKS}
    for link in LINKS:
        if link.policy is SharingPolicy.SHARED:
            assert load[link.name] <= link.bandwidth_bytes_per_s * (1 + 1e-9)
    for rate, route in zip(rates, flows, strict=True):
        full = [link for link in route if load[link.name] >= link.bandwidth_bytes_per_s * (1 - 1e-9)]
        most = [
            link
            for link in full
            if link.policy is SharingPolicy.SHARED
            and all(other <= rate * (1 + 1e-9) for other, way in zip(rates, flows, strict=True) if link in way)
        ]
        capped = any(link.policy is SharingPolicy.FATPIPE and rate == link.bandwidth_bytes_per_s for link in route)
        assert most or capped


@given(routes)
def test_the_order_of_flows_does_not_matter(flows: list[list[Link]]) -> None:
    assert share(flows)[::-1] == pytest.approx(share(flows[::-1]))


class Clock:
    now_ns = 0


def run(timeline: Timeline, clock: Clock) -> None:
    while (due := timeline.next_ns) is not None:
        clock.now_ns = max(clock.now_ns, due)
        timeline.run_due(due)


def make() -> tuple[Network, Timeline, Clock, list[Host]]:
    hosts = [Host(f"h{index}", (ip_address(f"10.0.0.{index + 1}"),)) for index in range(4)]
    timeline, clock = Timeline(), Clock()
    return Network(clock, timeline, star(hosts, Access(1e6, 1_000_000))), timeline, clock, hosts


def test_a_lone_transfer_takes_latency_plus_size_over_bandwidth() -> None:
    network, timeline, clock, hosts = make()
    arrived: list[int] = []
    network.open_flow(hosts[0], hosts[1], lambda data: arrived.append(clock.now_ns)).send(b"x" * 1000)
    run(timeline, clock)
    assert arrived == [2_000_000 + 1_000_000]
    assert network.solves == 0


def test_two_transfers_over_one_link_take_twice_as_long() -> None:
    network, timeline, clock, hosts = make()
    arrived: list[int] = []
    for source in (0, 1):
        network.open_flow(hosts[source], hosts[2], lambda data: arrived.append(clock.now_ns)).send(b"x" * 1000)
    run(timeline, clock)
    assert arrived == [2_000_000 + 2_000_000] * 2


def test_a_late_comer_slows_the_first_down_by_what_it_takes() -> None:
    network, timeline, clock, hosts = make()
    arrived: dict[str, int] = {}
    first = network.open_flow(hosts[0], hosts[2], lambda data: arrived.setdefault("first", clock.now_ns))
    second = network.open_flow(hosts[1], hosts[2], lambda data: arrived.setdefault("second", clock.now_ns))
    first.send(b"x" * 1000)
    timeline.add(500_000, lambda: second.send(b"x" * 250))
    run(timeline, clock)
    assert arrived == {"second": 3_000_000, "first": 2_000_000 + 1_250_000}


def test_bytes_arrive_in_order_and_the_end_after_them() -> None:
    network, timeline, clock, hosts = make()
    seen: list[bytes] = []
    flow = network.open_flow(hosts[0], hosts[1], seen.append)
    for part in (b"a" * 500, b"b", b"c" * 90):
        flow.send(part)
    flow.finish(lambda: seen.append(b"end"))
    assert flow.in_flight_bytes == 591
    run(timeline, clock)
    assert [part[:1] for part in seen] == [b"a", b"b", b"c", b"e"]
    assert flow.in_flight_bytes == 0


def test_a_cancelled_flow_delivers_nothing_and_frees_its_share() -> None:
    network, timeline, clock, hosts = make()
    arrived: list[int] = []
    network.open_flow(hosts[0], hosts[2], lambda data: arrived.append(clock.now_ns)).send(b"x" * 1000)
    doomed = network.open_flow(hosts[1], hosts[2], lambda data: arrived.append(-1))
    doomed.send(b"x" * 1000)
    timeline.add(1_000_000, doomed.cancel)
    run(timeline, clock)
    assert arrived == [2_000_000 + 1_500_000]
