"""The wait for a record lock that closes a cycle of waits is found, directly or through others."""

from __future__ import annotations

import errno

import pytest

from rsg_server.clock.timeline import Timeline
from rsg_server.process.actor import Actor
from rsg_server.process.futex import FutexTable
from rsg_server.protocol import Space, Wait, Wake
from rsg_server.waits.file_lock import FileLockWait
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.parts import new_parking


def closes(actor: Actor, holder: int) -> bool:
    """Whether the actor would close a cycle if it waited for a lock of the process with this pid."""
    wait = FileLockWait(FutexTable(new_parking(Timeline())), Space.LOCKS, 1, holder)
    told = wait.prepare(actor)
    assert told in (None, (Wake.READY, -errno.EDEADLK))
    return told is not None


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_chain_that_leads_back_is_a_cycle(world: Fake, length: int) -> None:
    first, *others = (world.born(pid=pid) for pid in range(1, length + 2))
    for actor in others[:-1]:
        world.park(actor, Wait.FUTEX, a=Space.LOCKS, b=1, c=actor.process.pid + 1)
    assert not closes(first, 2)
    world.park(others[-1], Wait.FUTEX, a=Space.LOCKS, b=1, c=1)
    assert closes(first, 2)


def test_a_cycle_of_others_ends_the_search(world: Fake) -> None:
    asker, *others = (world.born(pid=pid) for pid in (1, 2, 3))
    for actor, holder in zip(others, (3, 2), strict=True):
        world.park(actor, Wait.FUTEX, a=Space.LOCKS, b=1, c=holder)
    assert not closes(asker, 2)


def test_other_waits_and_unknown_holders_close_nothing(world: Fake) -> None:
    asker, holder = world.born(pid=1), world.born(pid=2)
    world.park(holder, Wait.FUTEX, b=1, c=1)  # a futex, not a lock
    assert not closes(asker, 2)
    assert not closes(asker, 3)
