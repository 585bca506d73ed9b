"""A forked child sends HELLO before its parent goes on; a child that dies before that is reaped, and its parent told."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator

import msgpack
import pytest

from rsg_server.process import native_signal
from rsg_server.process.actor import Actor, State
from rsg_server.protocol import Hello, Op, Wait, Wake
from tests.unit.rsg_server.fakes import Fake, fake


@pytest.fixture
def world() -> Iterator[Fake]:
    with fake() as made:
        yield made


def fork(world: Fake, parent: Actor) -> tuple[Actor, socket.socket]:
    """An announced child and its end of the channel."""
    reply = world.send(parent, msgpack.packb([Op.FORK, 1]))
    assert reply is not None
    child = world.kernel.actors[reply[0]]  # type: ignore[index]
    return child, socket.socket(fileno=world.descriptors.pop())


def done(world: Fake, parent: Actor, child: Actor, pid: int) -> None:
    assert world.send(parent, msgpack.packb([Op.FORK_DONE, pid, child.number])) == (0,)


def test_a_child_is_known_when_fork_returns(world: Fake) -> None:
    parent = world.born()
    child, channel = fork(world, parent)
    with channel:
        channel.send(msgpack.packb([Op.HELLO, Hello.FORKED, 77, 77, ""]))
        done(world, parent, child, 77)
    assert parent.process.host.processes[77] is child.process
    assert child.process.global_pid == os.getpid() and not child.owes_message
    assert child.reply == (0, child.process.seed) and child.state is State.READY


def test_a_child_that_dies_without_a_word_is_told_to_its_parent(world: Fake) -> None:
    parent = world.born()
    waiter, theirs = world.kernel.threads.new(parent.process)
    os.close(theirs)
    waiter.owes_message, waiter.state = False, State.RUNNING
    world.send(waiter, msgpack.packb([Op.PARK, Wait.CHILD, 61, -1, 0, 0, 0, 0]))
    with subprocess.Popen(["sleep", "0"]) as real:
        parent.process.global_pid = os.getpid()
        child, channel = fork(world, parent)
        channel.close()
        done(world, parent, child, real.pid)
        assert child.process.dead and not parent.process.children
        assert waiter.reply[0] == Wake.READY


@pytest.mark.parametrize("message", [b"\xc1", msgpack.packb([Op.EXIT, 0]), msgpack.packb([Op.HELLO]), msgpack.packb(7)])
def test_a_child_that_says_something_else_first_is_killed(world: Fake, message: bytes) -> None:
    parent = world.born()
    with subprocess.Popen(["sleep", "100"]) as real:
        threading.Thread(target=real.wait).start()  # whose parent is none of the kernel's: it waits until that has reaped it
        child, channel = fork(world, parent)
        child.process.open_pidfd(real.pid)
        with channel:
            channel.send(message)
            done(world, parent, child, real.pid)
        assert child.process.dead and not parent.process.dead
        assert any("no HELLO" in warning for warning in world.kernel.warner.counts)
        assert real.wait() == -9


def test_children_are_found_by_what_their_parent_calls_them() -> None:
    with subprocess.Popen(["sleep", "100"]) as real:
        assert native_signal.global_child(os.getpid(), real.pid) == real.pid
        real.kill()
    with pytest.raises(ProcessLookupError):
        native_signal.global_child(os.getpid(), real.pid)
