"""Actors are woken in the order of the server's numbers, and only for descriptors that they wait for."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import msgpack
import pytest

from rsg_server.process.actor import Actor, State
from rsg_server.protocol import Op, Wait, Wake
from tests.unit.rsg_server.fakes import Fake, fake


def waits_for(world: Fake, actor: Actor, descriptor: int, wait: Wait, is_known: bool = False) -> select.epoll:
    """Have the actor park, with a private epoll that holds the descriptor; `is_known`: the server is told the epoll's own."""
    private = select.epoll()
    private.register(descriptor, select.EPOLLIN)
    with select.epoll.fromfd(os.dup(private.fileno())) as copy:
        world.kernel.readiness.watch(copy.fileno(), actor)
    flags = private.fileno() << 8 if is_known else 0
    world.send(actor, msgpack.packb([Op.PARK, wait, 7, -1, 0, 0, 0, flags]))
    return private


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_actors_are_woken_in_the_order_of_their_numbers(order: tuple[int, ...]) -> None:
    with fake() as world:
        actors, pipes = [world.born() for _ in range(3)], [os.pipe() for _ in range(3)]
        epolls = [waits_for(world, actor, pipe[0], Wait.FD) for actor, pipe in zip(actors, pipes, strict=True)]
        for place in order:
            os.write(pipes[place][1], b"x")
        world.wake_ready()
        assert list(world.kernel.run_queue) == actors
        assert all(actor.reply[0] == Wake.READY for actor in actors)
        assert not world.kernel.readiness.may_have_changed
        for private in epolls:
            private.close()
        for pipe in pipes:
            os.close(pipe[0])
            os.close(pipe[1])


def test_an_actor_that_waits_for_something_else_stays_parked() -> None:
    with fake() as world:
        actor, pipe = world.born(), os.pipe()
        private = waits_for(world, actor, pipe[0], Wait.TIME)
        os.write(pipe[1], b"x")
        world.wake_ready()
        assert actor.state is State.PARKED and not world.kernel.run_queue
        private.close()
        os.close(pipe[0])
        os.close(pipe[1])


@contextmanager
def workers(world: Fake, count: int) -> Iterator[tuple[list[Actor], int, int]]:
    """Actors of one host that wait for the same end of a pipe; both ends."""
    reading, writing = os.pipe()
    actors = [world.born() for _ in range(count)]
    with ExitStack() as opened:
        for actor in actors:
            opened.enter_context(waits_for(world, actor, reading, Wait.FD, is_known=True))
            actor.process.open_pidfd(os.getpid())
            opened.callback(os.close, actor.process.pidfd)
        yield actors, reading, writing
        for actor in actors:
            actor.process.pidfd = -1
    os.close(reading)
    os.close(writing)


def test_of_the_actors_of_a_host_one_is_woken_and_the_others_look_again_in_their_turn() -> None:
    with fake() as world, workers(world, 3) as (actors, reading, writing):
        os.write(writing, b"xx")
        world.wake_ready()
        queue = world.kernel.run_queue
        assert list(queue) == actors
        assert [actor.state for actor in actors] == [State.READY, State.PARKED, State.PARKED]
        queue.pick()
        os.read(reading, 1)
        assert world.loop._parts.wakeups.elect(queue.pick())  # there is a byte left
        os.read(reading, 1)
        assert not world.loop._parts.wakeups.elect(queue.pick())
        assert actors[2].state is State.PARKED and not queue
        os.write(writing, b"x")
        world.wake_ready()
        assert list(queue) == [actors[2]] and actors[2].state is State.READY


def test_a_nominated_actor_that_is_woken_for_another_reason_keeps_its_place() -> None:
    with fake() as world, workers(world, 2) as (actors, reading, writing):
        os.write(writing, b"x")
        world.wake_ready()
        world.kernel.parking.time_out(actors[1])
        queue = world.kernel.run_queue
        assert list(queue) == actors
        os.read(reading, 1)
        queue.pick()
        assert world.loop._parts.wakeups.elect(queue.pick()) and actors[1].reply[0] == Wake.TIMEOUT


def test_a_nominated_actor_of_a_stopped_process_looks_when_that_is_continued() -> None:
    with fake() as world, workers(world, 2) as (actors, _, writing):
        os.write(writing, b"x")
        world.wake_ready()
        world.kernel.signals.stop(actors[1].process)
        assert list(world.kernel.run_queue) == actors[:1] and not actors[1].is_nominated
        world.kernel.signals.resume(actors[1].process)
        assert list(world.kernel.run_queue) == actors
        world.kernel.threads.end(actors[1])
        assert list(world.kernel.run_queue) == actors[:1]


def test_a_frozen_process_has_no_turn_until_it_is_thawed_and_continued() -> None:
    with fake() as world, workers(world, 2) as (actors, _, writing):
        signals, process = world.kernel.signals, actors[1].process
        os.write(writing, b"x")
        world.wake_ready()
        signals.freeze(process)
        assert list(world.kernel.run_queue) == actors[:1] and not actors[1].is_nominated
        signals.stop(process)
        signals.thaw(process)
        assert list(world.kernel.run_queue) == actors[:1]
        signals.freeze(process)
        signals.resume(process)
        assert list(world.kernel.run_queue) == actors[:1]
        signals.thaw(process)
        assert list(world.kernel.run_queue) == actors


def test_a_nominated_actor_that_ends_leaves_the_run_queue() -> None:
    with fake() as world, workers(world, 2) as (actors, _, writing):
        os.write(writing, b"x")
        world.wake_ready()
        world.kernel.threads.end(actors[1])
        assert list(world.kernel.run_queue) == actors[:1]
