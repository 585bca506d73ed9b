"""Descriptions, in words, of what an actor waits for."""

from __future__ import annotations

import ctypes
import re

import pytest

from rsg_server.process.actor import Actor
from rsg_server.protocol import Space, Wait
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.real_process import this_process


def words(world: Fake, actor: Actor) -> str:
    assert actor.parked is not None
    return actor.parked.describe(actor, world.describer())


@pytest.mark.parametrize(
    ("wait", "a", "b", "shown"),
    [
        (Wait.TIME, 0, 0, "the clock"),
        (Wait.YIELD, 0, 0, "its next turn"),
        (Wait.COMPUTE, 500, 0, "the end of its computing, 500 flops"),
        (Wait.SIGNAL, 1 << 9 | 1 << 14, 0, "signal 10, 15"),
        (Wait.SIGNAL, (1 << 64) - 1, 0, "a signal"),
        (Wait.CONNECT, 0, 0, "an answer to its connect"),
        (Wait.FUTEX, Space.SEMAPHORES, 7, "the System V semaphore set 7"),
        (Wait.FUTEX, Space.QUEUES, 8, "the System V message queue 8"),
        (Wait.FUTEX, Space.FIFOS, 9, "the other side of the FIFO with inode 9"),
        (Wait.FUTEX, 0x77, 0x40, "futex 0x40 of shared memory 0x77"),
        (Wait.FD, 987654, 0, "descriptor 987654 (closed)"),
        (Wait.LOCK, 987654, 0, "room at descriptor 987654 (closed)"),
    ],
)
def test_waits(world: Fake, wait: Wait, a: int, b: int, shown: str) -> None:
    actor = world.park(world.born(), wait, a=int(a), b=b)
    assert words(world, actor) == shown


def test_several_futexes_are_listed(world: Fake) -> None:
    actor = world.born()
    actor.words = ((0, 0x10), (0, 0x20))
    world.park(actor, Wait.FUTEX, a=Space.MANY)
    assert words(world, actor) == "any of 2 futexes: 0x10, 0x20"


def test_a_lock_names_its_descriptor(world: Fake) -> None:
    actor = world.park(world.born(), Wait.FUTEX, a=Space.LOCKS, b=1, c=987654 << 32 | 5)
    assert words(world, actor) == "a lock of descriptor 987654 (closed)"


def test_living_children_are_named(world: Fake) -> None:
    parent, child, dead = world.born(), world.born(), world.born()
    parent.process.children = [child.process, dead.process]
    dead.process.dead = True
    world.park(parent, Wait.CHILD)
    assert words(world, parent) == f"a child: {child.process!r}"


def test_the_child_of_a_vfork_is_named(world: Fake) -> None:
    parent, child = world.born(), world.born()
    world.park(parent, Wait.VFORK, a=child.number)
    assert words(world, parent) == f"the exec or end of its vfork child {child.process!r}"


def test_a_futex_tells_where_it_is_and_what_it_holds(world: Fake) -> None:
    word = ctypes.c_uint32(42)
    actor = world.park(this_process(world), Wait.FUTEX, b=ctypes.addressof(word))
    assert re.fullmatch(rf"futex {ctypes.addressof(word):#x} \((.+, )?value 42\)", words(world, actor))
