"""Slots are numbered from 1; those that were given back go first."""

from __future__ import annotations

import pytest

from rsg_server.process import slots as module
from rsg_server.process.slots import Slots
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.forms import interpreted_only


def test_every_actor_has_a_slot_of_its_own(world: Fake) -> None:
    actors, slots = [world.born() for _ in range(3)], Slots()
    for actor in actors:
        slots.take(actor)
    assert [actor.slot for actor in actors] == [1, 2, 3]
    assert [slots[number] for number in (1, 2, 3)] == actors
    for actor in actors:
        slots.release(actor)


def test_a_slot_that_was_given_back_is_the_next_one(world: Fake) -> None:
    first, second, third = (world.born() for _ in range(3))
    slots = Slots()
    slots.take(first)
    slots.take(second)
    slots.release(first)
    assert first.slot == 0 and slots.get(1) is None
    slots.take(third)
    assert third.slot == 1 and slots[1] is third


def test_a_slot_without_an_actor(world: Fake) -> None:
    assert Slots().get(7) is None
    with pytest.raises(KeyError):
        Slots()[7]


@interpreted_only
def test_actors_beyond_the_last_slot_have_none(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOTS", 2)  # slot 0 is none, so one is left
    first, second = world.born(), world.born()
    slots = Slots()
    slots.take(first)
    slots.take(second)
    assert (first.slot, second.slot) == (1, 0)
    slots.release(second)
    assert slots[1] is first
