"""Packets that are late: bytes of a connection stay in order, datagrams need not."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from rsg_server.choices.delays import Delays
from rsg_server.choices.places import CUT, CUTS, DELAY, DELAYS_NS, TURN
from rsg_server.choices.source import Choices
from rsg_server.network.network import Network
from rsg_server.platform.star import Access, star
from tests.unit.rsg_server.network.test_network import HOSTS, MS, World

DRAWN = st.lists(st.integers(0, len(DELAYS_NS) - 1), min_size=3, max_size=3)


@dataclass
class Listed:
    """A strategy that takes what a list says."""

    values: list[int]

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        return self.values[number]


class LateWorld(World):
    """A network whose packets are late as a list says."""

    def __init__(self, values: list[int], places: frozenset[str] = frozenset({DELAY})) -> None:
        super().__init__()
        self.choices = Choices(Listed(values), places)
        self.network = Network(self, self.timeline, star(HOSTS, Access(1e6, MS)), delays=Delays(self.choices))


@given(DRAWN)
def test_bytes_of_a_connection_stay_in_order(drawn: list[int]) -> None:
    world = LateWorld(drawn)
    flow = world.network.open_flow(HOSTS[0], HOSTS[1], world.note)
    for part in (b"a", b"b", b"c"):
        flow.send(part)
    world.run()
    assert [what for _, what in world.seen] == [b"a", b"b", b"c"]
    late = [DELAYS_NS[taken] for taken in drawn]
    left = [2 * MS + (place + 1) * 1000 for place in range(3)]
    assert [moment for moment, _ in world.seen] == [max(left[k] + late[k] for k in range(n + 1)) for n in range(3)]


@given(DRAWN)
def test_a_late_datagram_holds_up_no_other(drawn: list[int]) -> None:
    world = LateWorld(drawn)
    for what in range(3):
        world.network.datagram(HOSTS[0], HOSTS[1], lambda what=what: world.note(what), 1000, lambda began_ns: None)
    world.run()
    assert {what: moment for moment, what in world.seen} == {n: (3 + n) * MS + DELAYS_NS[drawn[n]] for n in range(3)}


def test_nothing_is_asked_within_a_host_or_at_another_place() -> None:
    world = LateWorld([])
    world.network.message(HOSTS[0], HOSTS[0], lambda: world.note("within"))
    elsewhere = LateWorld([], frozenset({TURN}))
    elsewhere.network.message(HOSTS[0], HOSTS[1], lambda: elsewhere.note("there"))
    world.run()
    elsewhere.run()
    assert [what for _, what in (*world.seen, *elsewhere.seen)] == ["within", "there"]
    assert world.choices.count == elsewhere.choices.count == 0


@given(st.integers(0, len(CUTS) - 1), st.integers(1, 9))
def test_bytes_that_are_cut_arrive_as_two_parts(taken: int, size: int) -> None:
    world = LateWorld([taken, 0], frozenset({CUT}))
    flow = world.network.open_flow(HOSTS[0], HOSTS[1], world.note)
    sent, late_ns = bytes(range(size)), CUTS[taken][1]
    flow.send(sent)
    flow.send(b"z")
    world.run()
    *parts, last = [what for _, what in world.seen]
    moments = [moment for moment, _ in world.seen]
    assert (b"".join(parts), last) == (sent, b"z")
    assert len(parts) == (2 if taken and size > 1 else 1) and all(parts)
    assert moments == sorted(moments)
    if len(parts) == 2:
        assert moments[1] - moments[0] >= late_ns
        assert moments[2] >= moments[1], "what is sent later waits for the rest"


def test_what_stays_within_a_host_is_not_cut() -> None:
    world = LateWorld([], frozenset({CUT}))
    world.network.open_flow(HOSTS[0], HOSTS[0], world.note).send(b"whole")
    world.run()
    assert [what for _, what in world.seen] == [b"whole"]
