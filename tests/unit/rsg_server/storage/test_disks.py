"""Disks in the solver: completion times against SimGrid's and against closed forms; what holds of all of them."""

from __future__ import annotations

import gzip
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.network.engine import FlowEngine
from rsg_server.network.models import Model, cm02, lv08, raw, without_sharing
from rsg_server.platform.disk import Direction, Disk
from rsg_server.platform.link import Link, Route

FILE = Path(__file__).resolve().parents[3] / "simgrid_reference/disks.json.gz"
READ, WRITE = Direction.READ, Direction.WRITE
MODELS = [lv08(), cm02(), raw(), without_sharing()]
models = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
Work = tuple[float, Direction, float]
"""start in s, direction, bytes"""


def engine(model: Model | None = None) -> FlowEngine:
    link = Link("link", 125e6, 50e-6)
    return FlowEngine(lambda source, destination: Route((link,)), model or lv08())


def finishes(disk: Disk, *works: Work, model: Model | None = None) -> list[float]:
    on = engine(model)
    numbers = [on.operate("h", disk, direction, size, start) for start, direction, size in works]
    on.advance(math.inf)
    return [on.finish_s(number) for number in numbers]


@cache
def cases() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(gzip.decompress(FILE.read_bytes()))
    return found


@pytest.mark.parametrize("number", range(65))
def test_as_simgrid(number: int) -> None:
    case = cases()[number]
    disk, on = Disk("d", case["read"], case["write"], case["together"]), engine()
    operations = [
        on.operate("h", disk, Direction[each["kind"].upper()], each["bytes"], each["start"], each["priority"])
        for each in case["operations"]
    ]
    on.advance(math.inf)
    for operation, each in zip(operations, case["operations"], strict=True):
        assert on.finish_s(operation) == pytest.approx(each["finish"], rel=1e-9)


def test_every_case_is_compared() -> None:
    assert len(cases()) == 65


@models
def test_a_read_beside_a_write_whatever_the_flow_model(model: Model) -> None:
    """100 MB each at 100 and 40 MB/s: the write has all that writes may have, the read what is left of both together."""
    both = ((0.0, READ, 1e8), (0.0, WRITE, 1e8))
    assert finishes(Disk("d", 1e8, 4e7), *both, model=model) == pytest.approx([5 / 3, 2.5], rel=1e-12)
    assert finishes(Disk("d", 1e8, 4e7, 1.4e8), *both, model=model) == pytest.approx([1.0, 2.5], rel=1e-12)
    assert finishes(Disk("d", 1e8, 4e7, 4e7), *both, model=model) == pytest.approx([5.0, 5.0], rel=1e-12)


def test_each_operation_waits_for_the_latency_first() -> None:
    disk = Disk("d", 1e8, 4e7, latency_s=0.005)
    assert finishes(disk, (0.0, READ, 1e8), (2.0, WRITE, 0.0)) == pytest.approx([1.005, 2.005], rel=1e-12)


def test_disks_of_two_hosts_are_two() -> None:
    on, disk = engine(), Disk("d", 1e8, 4e7)
    operations = [on.operate(host, disk, READ, 1e8, 0.0) for host in ("a", "b")]
    on.advance(math.inf)
    assert [on.finish_s(each) for each in operations] == [1.0, 1.0]


def test_flows_over_links_take_nothing_from_disks() -> None:
    on, alone = engine(), engine()
    read, flow, other = (
        on.operate("h", Disk("d", 1e8, 4e7), READ, 1e8, 0.0),
        on.start("h", "g", 1e8, 0.0),
        alone.start("h", "g", 1e8, 0.0),
    )
    on.advance(math.inf)
    alone.advance(math.inf)
    assert on.finish_s(read) == 1.0
    assert on.finish_s(flow) == alone.finish_s(other)


works = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.5, 2.0]), st.sampled_from([READ, WRITE]), st.integers(1, 10**9).map(float)),
    min_size=1,
    max_size=8,
)
disks = st.builds(
    lambda read, write, part: Disk("d", read, write, part and (read + write) * part),
    st.integers(1, 50).map(lambda rate: rate * 1e7),
    st.integers(1, 50).map(lambda rate: rate * 1e7),
    st.sampled_from([None, 0.3, 0.6, 1.0, 2.0]),
)


@given(disks, works)
def test_no_constraint_is_exceeded_and_nobody_waits_for_nothing(disk: Disk, works: list[Work]) -> None:
    """At each moment every operation that moves is held back by a full constraint, and none is above its capacity."""
    on = engine()
    numbers = [on.operate("h", disk, direction, size, start) for start, direction, size in works]
    while on.unfinished:
        on.advance(on.next_s)
        rates = [on.rate(number) for number in numbers]
        used = {way: sum(rate for rate, work in zip(rates, works, strict=True) if work[1] is way) for way in Direction}
        capacity = {READ: disk.read_bytes_per_s, WRITE: disk.write_bytes_per_s}
        together = sum(used.values())
        assert together <= disk.together_bytes_per_s * (1 + 1e-9)
        for way in Direction:
            assert used[way] <= capacity[way] * (1 + 1e-9)
        for rate, (start, way, _), number in zip(rates, works, numbers, strict=True):
            if start <= on.now_s < on.finish_s(number):
                assert rate > 0
                assert used[way] >= capacity[way] * (1 - 1e-9) or together >= disk.together_bytes_per_s * (1 - 1e-9)


@given(disks, works)
def test_no_byte_is_lost_and_none_comes_from_nowhere(disk: Disk, works: list[Work]) -> None:
    found = finishes(disk, *works)
    total = sum(size for _, _, size in works)
    slowest = min(disk.read_bytes_per_s, disk.write_bytes_per_s, disk.together_bytes_per_s)
    assert max(found) >= total / disk.together_bytes_per_s * (1 - 1e-9)
    assert max(found) <= (max(start for start, _, _ in works) + total / slowest) * (1 + 1e-9)
    for moment, (start, way, size) in zip(found, works, strict=True):
        own = disk.read_bytes_per_s if way is READ else disk.write_bytes_per_s
        assert moment >= (start + size / min(own, disk.together_bytes_per_s)) * (1 - 1e-9)


def test_the_order_of_insertion_does_not_show_in_the_times() -> None:
    disk = Disk("d", 1e8, 4e7)
    works: list[Work] = [(0.0, READ, 3e8), (0.0, WRITE, 5e8), (0.5, READ, 7e8), (0.5, WRITE, 2e8)]
    assert finishes(disk, *works[::-1])[::-1] == finishes(disk, *works)
