"""The channel and epoll of a thread that has ended go to the next thread of its process; which goes where decides nothing."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Iterator

import msgpack
import pytest

from rsg_server.fd_store import store as fd_store
from rsg_server.process.actor import Actor, State
from rsg_server.protocol import Fork, Op, Wait, Wake
from rsg_server.sockets.kinds.stream import StreamSocket
from tests.unit.rsg_server.fakes import Fake, fake


@pytest.fixture
def world() -> Iterator[Fake]:
    with fake() as made:
        yield made


def thread_of(world: Fake, parent: Actor) -> tuple[Actor, int, list[int]]:
    """A thread that has had its first turn, the number of its channel, and the descriptors that came with it."""
    before = len(world.descriptors)
    reply = world.send(parent, msgpack.packb([Op.FORK, int(Fork.THREAD)]))
    assert reply is not None
    actor_number, slot, number = reply
    made = world.kernel.actors[actor_number]  # type: ignore[index]
    assert (made.slot, made.channel_number) == (slot, number)
    world.kernel.run_queue.withdraw(made)
    made.state, made.is_new = State.RUNNING, False
    return made, made.channel_number, world.descriptors[before:]


def end(world: Fake, actor: Actor) -> None:
    assert world.send(actor, msgpack.packb([Op.THREAD_EXIT, 0, 0])) is None
    assert actor.state is State.DEAD


def is_open(channel: socket.socket) -> bool:
    """Whether the server still has its end."""
    return not select.select([channel], [], [], 0)[0]


def test_the_next_thread_gets_the_seat_of_the_last(world: Fake) -> None:
    parent = world.born()
    first, number, descriptors = thread_of(world, parent)
    assert len(descriptors) == 1 and first.channel_number == first.number
    end(world, first)
    second, again, descriptors = thread_of(world, parent)
    assert again == number and descriptors == [] and second.number != first.number
    third, other, descriptors = thread_of(world, parent)
    assert other == third.number and len(descriptors) == 1


def test_a_seat_is_no_other_process_s_nor_the_main_thread_s(world: Fake) -> None:
    parent, stranger = world.born(), world.born()
    thread, number, _ = thread_of(world, parent)
    end(world, thread)
    assert thread_of(world, stranger)[1] != number
    end(world, stranger)  # its main thread: the other one lives on
    assert not stranger.process.dead
    survivor = stranger.process.actors[0]
    assert thread_of(world, survivor)[1] not in (number, stranger.number)


def test_seats_end_with_the_process_and_with_its_image(world: Fake) -> None:
    for last_word in ([Op.EXIT, 0], [Op.HELLO, 0, 101, 101, "/bin/other"]):
        parent = world.born()
        parent.process.pid = 101
        thread, _, descriptors = thread_of(world, parent)
        with socket.socket(fileno=os.dup(descriptors[0])) as channel:
            end(world, thread)
            assert is_open(channel)
            world.send(parent, msgpack.packb(last_word))
            assert not is_open(channel)


def test_seats_are_given_up_where_descriptors_are_short(world: Fake) -> None:
    parent = world.born()
    thread, number, _ = thread_of(world, parent)
    end(world, thread)
    world.kernel.fd_store._make_room()
    _, fresh, descriptors = thread_of(world, parent)
    assert fresh != number and len(descriptors) == 1


def test_nothing_is_stored_where_seats_are_enough(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = world.born()
    cold = world.kernel.sockets.create(world.kernel.hosts["h0"], 4, StreamSocket)
    threads = [thread_of(world, parent)[0] for _ in range(2)]
    for thread in threads:
        end(world, thread)
    cold.is_warm = False
    monkeypatch.setattr(fd_store, "_BATCH", 2)
    world.kernel.fd_store._make_room()
    assert cold.held is not None and world.kernel.fd_store.stored == 0
    cold.is_warm = False
    world.kernel.fd_store._make_room()
    assert cold.held is None and world.kernel.fd_store.stored == 1


def test_an_epoll_tells_of_who_has_it_now_in_the_order_of_the_actors(world: Fake) -> None:
    """The channel of the second actor is older than that of the first."""
    parent = world.born()
    old, _, _ = thread_of(world, parent)
    world.send(old, msgpack.packb([Op.EPOLL]))
    epolls = [world.descriptors[-1]]
    first, _, _ = thread_of(world, parent)
    world.send(first, msgpack.packb([Op.EPOLL]))
    epolls.append(world.descriptors[-1])
    end(world, old)
    second, number, _ = thread_of(world, parent)
    assert number == old.channel_number < first.channel_number and second.number > first.number
    ends = [socket.socketpair() for _ in epolls]
    for epoll, (ours, theirs) in zip(epolls, ends, strict=True):
        with select.epoll.fromfd(os.dup(epoll)) as private:
            private.register(theirs, select.EPOLLIN)
        ours.send(b"x")
    for actor in (first, second):
        world.park(actor, Wait.FD)
    world.wake_ready()
    assert list(world.kernel.run_queue) == [first, second]
    assert first.reply[0] == second.reply[0] == Wake.READY
    for pair in ends:
        for each in pair:
            each.close()
