"""Flows between disks over links, by closed forms: Debian's SimGrid 3.32 has no Io::streamto to compare with."""

from __future__ import annotations

import math

import pytest

from rsg_server.network.engine import FlowEngine
from rsg_server.network.models import ACKNOWLEDGEMENTS, Model, cm02, lv08, raw
from rsg_server.platform.disk import Direction, Disk
from rsg_server.platform.link import Link, Route

LATENCY_S, SIZE = 1e-4, 1e9
SLOW, FAST = Disk("slow", 1e7, 4e6), Disk("fast", 1e9, 1e9)
MODELS = [lv08(), cm02(), raw()]
models = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


def engine(model: Model, bandwidth: float = 1e8) -> FlowEngine:
    """Hosts a, b … each with a link of its own."""
    return FlowEngine(
        lambda source, destination: Route(tuple(Link(name, bandwidth, LATENCY_S / 2) for name in (source, destination))), model
    )


def begins_s(model: Model) -> float:
    return model.latency_factor.of(SIZE) * LATENCY_S


@models
@pytest.mark.parametrize(
    ("read", "written", "rate"),
    [(SLOW, None, 1e7), (None, SLOW, 4e6), (SLOW, SLOW, 4e6), (FAST, SLOW, 4e6), (SLOW, FAST, 1e7)],
)
def test_a_disk_that_is_slower_than_the_links_moves_whole_bytes(
    model: Model, read: Disk | None, written: Disk | None, rate: float
) -> None:
    on = engine(model)
    stream = on.stream("a", read, "b", written, SIZE, 0.0)
    on.advance(math.inf)
    assert on.finish_s(stream) == pytest.approx(begins_s(model) + SIZE / rate, rel=1e-9)


@models
def test_links_that_are_slower_than_the_disk_move_what_a_flow_moves(model: Model) -> None:
    on = engine(model)
    stream, flow = on.stream("a", FAST, "b", FAST, SIZE, 0.0), on.start("c", "d", SIZE, 0.0)
    on.advance(math.inf)
    assert on.finish_s(stream) == pytest.approx(on.finish_s(flow), rel=1e-9)


@models
def test_streams_to_one_disk_share_it(model: Model) -> None:
    on = engine(model)
    streams = [on.stream(name, None, "s", SLOW, SIZE, 0.0) for name in "abcd"]
    on.advance(math.inf)
    for stream in streams:
        assert on.finish_s(stream) == pytest.approx(begins_s(model) + 4 * SIZE / 4e6, rel=1e-9)


@models
def test_a_stream_and_a_flow_share_a_link(model: Model) -> None:
    """Both have half of the host's link until the stream has ended, then the flow has all of it, acknowledgements included."""
    on = engine(model)
    stream, flow = on.stream("a", FAST, "b", None, SIZE, 0.0), on.start("a", "c", 2 * SIZE, 0.0)
    on.advance(math.inf)
    rate = model.bandwidth_factor.of(SIZE) * 1e8 / (1 + ACKNOWLEDGEMENTS * model.cross_traffic)
    assert on.finish_s(stream) == pytest.approx(begins_s(model) + 2 * SIZE / rate, rel=1e-9)
    assert on.finish_s(flow) == pytest.approx(begins_s(model) + 3 * SIZE / rate, rel=1e-9)


def test_a_stream_beside_a_read_of_the_servers_own() -> None:
    """Without penalties of links both have half of the disk."""
    on = engine(raw())
    stream, read = on.stream("a", SLOW, "b", None, SIZE, 0.0), on.operate("a", SLOW, Direction.READ, SIZE, LATENCY_S)
    on.advance(math.inf)
    assert [on.finish_s(each) for each in (stream, read)] == pytest.approx([LATENCY_S + 2 * SIZE / 1e7] * 2, rel=1e-9)
