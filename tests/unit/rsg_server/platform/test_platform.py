"""Hosts, routes, and the star."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route, SharingPolicy
from rsg_server.platform.platform import Platform
from rsg_server.platform.star import Access, star


def host(name: str, *addresses: str) -> Host:
    return Host(name, tuple(ip_address(address) for address in addresses))


A, B = host("a", "10.0.0.1", "fd00::1"), host("b", "10.0.0.2")
SPECIAL = Access(5.0, 7)


def test_a_host_is_found_by_its_name_and_by_each_address() -> None:
    platform = star([A, B])
    assert platform.host_by_name("a") is A
    assert platform.host_by_address(bytes([10, 0, 0, 1])) is A
    assert platform.host_by_address(ip_address("fd00::1").packed) is A
    assert platform.host_by_address(bytes([10, 0, 0, 2])) is B


@given(st.binary(max_size=20))
def test_an_address_that_nobody_has_is_nobodys(packed: bytes) -> None:
    known = {address.packed: owner for owner in (A, B) for address in owner.addresses}
    assert star([A, B]).host_by_address(packed) is known.get(packed)


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        star([A]).host_by_name("z")


def test_two_hosts_of_one_name_are_refused_in_one_line() -> None:
    with pytest.raises(SimunixError, match=r"^host a: named twice; host names must differ$"):
        star([A, host("a", "10.0.0.9")])


def test_two_hosts_of_one_address_are_refused_by_both_names() -> None:
    with pytest.raises(SimunixError, match=r"^hosts a and c have the same address 10\.0\.0\.1; change one$"):
        star([A, B, host("c", "10.0.0.1")])


def test_an_address_may_be_given_twice_to_one_host() -> None:
    assert star([host("a", "10.0.0.1", "10.0.0.1")]).host_by_name("a").cores == 1


def test_a_route_is_asked_for_once_and_kept() -> None:
    asked: list[tuple[str, str]] = []

    def find(source: Host, destination: Host) -> Route:
        asked.append((source.name, destination.name))
        return Route((Link("wire", 1.0, 1e-9),))

    platform = Platform([A, B], find)
    assert platform.route(A, B) is platform.route(A, B)
    platform.route(B, A)
    assert asked == [("a", "b"), ("b", "a")]


def test_a_route_adds_latencies_up_and_is_as_narrow_as_its_narrowest_link() -> None:
    route = Route((Link("x", 5.0, 10e-9), Link("y", 3.0, 20e-9), Link("z", 9.0, 0.0)))
    assert (route.latency_ns, route.bottleneck_bytes_per_s) == (30, 3.0)


def test_a_star_goes_up_from_one_host_and_down_to_the_other() -> None:
    platform = star([A, B], Access(100.0, 10), overrides={"b": SPECIAL})
    there, back = platform.route(A, B), platform.route(B, A)
    assert [link.name for link in there.links] == ["a_UP", "b_DOWN"]
    assert [link.name for link in back.links] == ["b_UP", "a_DOWN"]
    assert not set(there.links) & set(back.links), "split duplex: the directions share nothing"
    assert there.latency_ns == back.latency_ns == 10 + 7
    assert there.bottleneck_bytes_per_s == back.bottleneck_bytes_per_s == 5.0
    assert {link.policy for link in there.links} == {SharingPolicy.SHARED}


def test_a_star_takes_a_host_to_itself_by_its_own_loopback() -> None:
    platform = star([A, B], Access(100.0, 10), loopback=Access(77.0, 3), overrides={"a": SPECIAL})
    (link,) = platform.route(A, A).links
    assert (link.bandwidth_bytes_per_s, link.latency_s, link.policy) == (77.0, 3e-9, SharingPolicy.FATPIPE)
    assert platform.route(B, B).links != (link,)


@given(st.integers(2, 12))
def test_every_pair_of_a_star_shares_only_the_ends_that_it_must(size: int) -> None:
    hosts = [host(f"n{index}", f"10.0.1.{index}") for index in range(size)]
    platform = star(hosts)
    up, down = platform.route(hosts[0], hosts[1]).links
    for other in hosts[2:]:
        assert platform.route(hosts[0], other).links[0] is up
        assert platform.route(other, hosts[1]).links[1] is down
        assert not {up, down} & set(platform.route(hosts[1], other).links)
