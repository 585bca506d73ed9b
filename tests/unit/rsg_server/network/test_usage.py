"""The bytes that links carry in each interval, and the CSV file with these numbers."""

from __future__ import annotations

from ipaddress import IPv4Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import ServerError
from rsg_server.network.usage import LinkUsage, split
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route

ONE, OTHER = (Host(name, (IPv4Address(address),)) for name, address in (("a", "10.0.0.1"), ("b", "10.0.0.2")))


class Routes:
    """One link between any two hosts."""

    def route(self, source: Host, destination: Host, /) -> Route:
        return Route((Link("cable", 1000.0, 0.0),))


@pytest.fixture
def usage() -> LinkUsage:
    return LinkUsage(Routes(), 10**9, lambda: 1_500_000_000)


def test_a_transfer_counts_in_each_interval_that_it_touches(usage: LinkUsage) -> None:
    usage.moved(ONE, OTHER, 500_000_000, 1_500_000_000, 1000)
    assert list(usage.rows()) == [("0", "cable", 500, "500", "0.5"), ("1", "cable", 500, "1000", "1")]


def test_what_stays_within_a_host_is_not_counted(usage: LinkUsage) -> None:
    usage.moved(ONE, ONE, 0, 10**9, 1000)
    assert list(usage.rows()) == []


def test_the_file_has_a_line_of_names_first(usage: LinkUsage, tmp_path: Path) -> None:
    usage.moved(ONE, OTHER, 0, 0, 10)
    usage.write(tmp_path / "links.csv")
    assert (tmp_path / "links.csv").read_text() == "time,link,bytes,rate,utilisation\n0,cable,10,10,0.01\n"
    with pytest.raises(ServerError, match="cannot be written: Is a directory; choose another folder"):
        usage.write(tmp_path)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**7), st.integers(1, 10**5))
def test_bytes_are_divided_among_intervals(begin: int, lasted: int, size: int, interval: int) -> None:
    parts = list(split(begin, begin + lasted, size, interval))
    assert sum(part for _, part in parts) == size
    assert all(part >= 0 for _, part in parts)
    most = interval * size / max(lasted, 1) + 1
    assert lasted == 0 or all(part <= most for _, part in parts)
    assert all(begin // interval <= index <= max(begin, begin + lasted - 1) // interval for index, _ in parts)
