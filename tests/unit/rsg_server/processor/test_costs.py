"""The table of costs that the server shares with all processes: points by name, rows by program and thread."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.processor.costs import (
    CALLS,
    CLOCK_READ,
    NO_ROW,
    POINTS,
    CostTable,
    point_kind,
    point_name,
    point_number,
)


@given(st.integers(0, POINTS - 1))
def test_each_column_has_a_name_of_its_own(number: int) -> None:
    assert point_number(point_name(number)) == number


def test_clock_reads_are_named_by_their_place() -> None:
    assert [point_name(number) for number in (0, CLOCK_READ, CALLS, CALLS + 0x1A3)] == [
        "read",
        "clock_read",
        "clock_read@000",
        "clock_read@1a3",
    ]
    assert [point_kind(name) for name in ("read", "clock_read", "clock_read@1a3")] == ["read", "clock_read", "clock_read"]


@pytest.mark.parametrize("name", ["raed", "read@1a3", "clock_read@", "clock_read@1A3", "clock_read@1000", "@1a3", ""])
def test_what_is_no_point_has_no_number(name: str) -> None:
    assert point_number(name) is None


@pytest.fixture
def shared_fd() -> Iterator[int]:
    fd = os.memfd_create("costs")
    yield fd
    os.close(fd)


def test_threads_of_modelled_programs_have_rows_where_the_table_knows_their_names(shared_fd: int) -> None:
    table = CostTable(shared_fd, {"slurmctld": {"read": 5}, "slurmctld:bckfl": {"clock_read@1a3": 900}})
    daemon, thread = table.row("/usr/sbin/slurmctld", True), table.row("/usr/sbin/slurmctld", True, "bckfl")
    assert NO_ROW not in (daemon, thread) and daemon != thread
    assert table.row("/usr/sbin/slurmctld", True, "sigmgr") == daemon
    assert table.row("/usr/bin/true", True) == NO_ROW
    assert table.without_prices == {"true"}
    assert table.measured() == {}
    table.close()
