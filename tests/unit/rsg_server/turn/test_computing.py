"""An actor that only computes and reads the clock is told that its CPU time passes; no other actor is."""

from __future__ import annotations

import pytest

from rsg_server.process import native_signal
from rsg_server.process.actor import Actor
from rsg_server.turn.computing import PATIENCES, Computing
from tests.unit.rsg_server.fakes import Fake, fake
from tests.unit.rsg_server.forms import interpreted_only

AFTER_NS = 200_000_000
BEGAN_NS = 7_000_000


class Watched:
    """An actor with the turn, at which the server looks after some CPU time."""

    def __init__(self, world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
        self.page = world.shim.page
        self.actor: Actor = world.born()
        self.computing: Computing = world.kernel.preemption.computing
        self.cpu_ns = BEGAN_NS
        monkeypatch.setattr(native_signal, "process_cpu_ns", lambda pid: self.cpu_ns)
        self.look()

    def look(self, computed_ns: int = 0, reads: int = 0, calls: int = 0) -> None:
        self.cpu_ns += computed_ns
        self.page.clock_reads += reads
        self.page.traps += calls
        self.computing.look(self.actor, AFTER_NS)


@interpreted_only
def test_who_computes_and_reads_the_clock_pays_since_the_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake() as world:
        watched = Watched(world, monkeypatch)
        watched.look(PATIENCES * AFTER_NS - 1, reads=3)
        assert (watched.page.computing_slot, watched.computing.count) == (0, 0)
        watched.look(1)
        assert watched.page.computing_slot == watched.actor.slot != 0
        assert watched.page.computing_since_ns == BEGAN_NS
        watched.page.computing_slot = 0  # the shim has taken note, and counts by itself
        watched.look(PATIENCES * AFTER_NS, reads=3)
        assert (watched.page.computing_slot, watched.computing.count) == (0, 1)


@interpreted_only
def test_another_call_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake() as world:
        watched = Watched(world, monkeypatch)
        watched.look(PATIENCES * AFTER_NS, reads=3, calls=1)
        watched.look(PATIENCES * AFTER_NS - 1, reads=3)
        assert watched.computing.count == 0
        watched.look(1)
        assert watched.page.computing_since_ns == BEGAN_NS + PATIENCES * AFTER_NS


@interpreted_only
def test_who_is_not_slower_than_real_time_pays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake() as world:
        watched = Watched(world, monkeypatch)
        world.kernel.clock.advance_to(world.kernel.clock.now_ns + PATIENCES * AFTER_NS)
        watched.look(PATIENCES * AFTER_NS, reads=3)
        assert watched.computing.count == 0
        watched.look(1, reads=3)
        assert watched.computing.count == 1


@interpreted_only
def test_who_only_computes_pays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake() as world:
        watched = Watched(world, monkeypatch)
        watched.look(100 * PATIENCES * AFTER_NS)
        assert watched.computing.count == 0


@interpreted_only
def test_what_the_shim_has_not_read_is_told_again_when_the_turn_was_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a loaded computer the turn was taken back between the word and the next clock read, and time stood still for ever."""
    with fake() as world:
        watched = Watched(world, monkeypatch)
        watched.look(PATIENCES * AFTER_NS, reads=3)
        assert watched.page.computing_slot == watched.actor.slot
        watched.computing.gave_back(watched.actor)
        world.shim.page.computing_slot = 0  # as each turn begins
        assert watched.page.computing_slot == 0
        watched.computing.begins(watched.actor)
        assert (watched.page.computing_slot, watched.page.computing_since_ns) == (watched.actor.slot, BEGAN_NS)
        assert watched.computing.count == 1


@interpreted_only
def test_what_the_shim_has_read_is_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake() as world:
        watched = Watched(world, monkeypatch)
        watched.look(PATIENCES * AFTER_NS, reads=3)
        watched.page.computing_slot = 0
        watched.computing.gave_back(watched.actor)
        watched.computing.begins(watched.actor)
        assert watched.page.computing_slot == 0
