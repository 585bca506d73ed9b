"""Max-min fairness: what makes a sharing right, tried on random platforms."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.network.sharing import share
from rsg_server.platform.link import Link, SharingPolicy

Routes = list[list[Link]]
CLOSE = 1e-9


@st.composite
def platforms(draw: st.DrawFn) -> Routes:
    """Up to ten flows over up to six links of odd bandwidths, some of them fat pipes."""
    bandwidths = draw(st.lists(st.floats(1e3, 1e11), min_size=1, max_size=6))
    policies = st.sampled_from([SharingPolicy.SHARED, SharingPolicy.SHARED, SharingPolicy.FATPIPE])
    links = [Link(f"l{index}", bandwidth, 0, draw(policies)) for index, bandwidth in enumerate(bandwidths)]
    route = st.lists(st.sampled_from(links), min_size=1, max_size=4)  # a link may come twice
    return draw(st.lists(route, max_size=10))


def users(link: Link, routes: Routes, rates: list[float]) -> list[float]:
    """The rates of those who use a link."""
    return [rate for rate, route in zip(rates, routes, strict=True) if link in route]


@given(platforms())
def test_no_shared_link_carries_more_than_its_bandwidth(routes: Routes) -> None:
    rates = share(routes)
    for link in {link for route in routes for link in route if link.policy is SharingPolicy.SHARED}:
        assert sum(users(link, routes, rates)) <= link.bandwidth_bytes_per_s * (1 + CLOSE)


@given(platforms())
def test_no_flow_is_faster_than_a_fat_pipe_on_its_way(routes: Routes) -> None:
    for rate, route in zip(share(routes), routes, strict=True):
        assert all(rate <= link.bandwidth_bytes_per_s for link in route)


def is_bottleneck(link: Link, rate: float, routes: Routes, rates: list[float]) -> bool:
    """Full, and nobody on it has more; or a fat pipe that the flow fills alone."""
    if link.policy is SharingPolicy.FATPIPE:
        return rate == link.bandwidth_bytes_per_s
    others = users(link, routes, rates)
    return sum(others) >= link.bandwidth_bytes_per_s * (1 - CLOSE) and max(others) <= rate * (1 + CLOSE)


@given(platforms())
def test_every_flow_has_a_bottleneck(routes: Routes) -> None:
    rates = share(routes)
    for rate, route in zip(rates, routes, strict=True):
        assert rate > 0
        assert any(is_bottleneck(link, rate, routes, rates) for link in route)


@given(platforms(), st.randoms(use_true_random=False))
def test_the_order_of_flows_and_of_links_does_not_matter(routes: Routes, chance: random.Random) -> None:
    order = list(range(len(routes)))
    chance.shuffle(order)
    shuffled = share([chance.sample(routes[index], len(routes[index])) for index in order])
    rates = share(routes)
    assert shuffled == pytest.approx([rates[index] for index in order], rel=CLOSE)


@given(platforms().filter(bool))
def test_a_flow_alone_gets_its_bottleneck(routes: Routes) -> None:
    for route in routes:
        assert share([route]) == [min(link.bandwidth_bytes_per_s for link in route)]


@given(st.integers(1, 50), st.floats(1e3, 1e11))
def test_a_fat_pipe_gives_everybody_all_of_it(flows: int, bandwidth: float) -> None:
    pipe = Link("pipe", bandwidth, 0, SharingPolicy.FATPIPE)
    assert share([[pipe]] * flows) == [bandwidth] * flows


@given(st.integers(1, 200), st.floats(1e3, 1e11))
def test_equal_flows_get_equal_shares(flows: int, bandwidth: float) -> None:
    assert share([[Link("wire", bandwidth, 0)]] * flows) == [bandwidth / flows] * flows


def test_what_a_capped_flow_leaves_goes_to_the_others() -> None:
    wire, pipe = Link("wire", 100.0, 0), Link("pipe", 10.0, 0, SharingPolicy.FATPIPE)
    assert share([[wire, pipe], [wire], [wire]]) == [10.0, 45.0, 45.0]


def test_the_textbook_chain() -> None:
    """One flow over two links, one on each: 10 shared by two, then 40 minus 5 (Bertsekas, Gallager, 6.5.2)."""
    narrow, wide = Link("narrow", 10.0, 0), Link("wide", 40.0, 0)
    assert share([[narrow, wide], [narrow], [wide]]) == [5.0, 5.0, 35.0]


def test_a_flow_without_links_is_not_held_back() -> None:
    wire = Link("wire", 8.0, 0)
    assert share([[], [wire]]) == [math.inf, 8.0]
    assert share([]) == []


def test_the_two_directions_of_one_name_are_one_link() -> None:
    """Links are told apart by name, and a link that comes twice on a route is used once."""
    wire = Link("wire", 8.0, 0)
    assert share([[wire, wire], [wire]]) == [4.0, 4.0]
