"""Actors are woken in the order of the server's numbers, and only for descriptors that they wait for."""

from __future__ import annotations

import os
import select

import msgpack
import pytest

from rsg_server.process.actor import Actor, State
from rsg_server.protocol import Op, Wait, Wake
from rsg_server.turn.wakeups import wake_ready
from tests.unit.rsg_server.fakes import Fake, fake


def waits_for(world: Fake, actor: Actor, descriptor: int, wait: Wait) -> select.epoll:
    """Have the actor park, with a private epoll that holds the descriptor."""
    private = select.epoll()
    private.register(descriptor, select.EPOLLIN)
    with select.epoll.fromfd(os.dup(private.fileno())) as copy:
        world.kernel.readiness.watch(copy.fileno(), actor)
    world.send(actor, msgpack.packb([Op.PARK, wait, 7, -1, 0, 0, 0, 0]))
    return private


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_actors_are_woken_in_the_order_of_their_numbers(order: tuple[int, ...]) -> None:
    with fake() as world:
        actors, pipes = [world.born() for _ in range(3)], [os.pipe() for _ in range(3)]
        epolls = [waits_for(world, actor, pipe[0], Wait.FD) for actor, pipe in zip(actors, pipes, strict=True)]
        for place in order:
            os.write(pipes[place][1], b"x")
        wake_ready(world.kernel)
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
        wake_ready(world.kernel)
        assert actor.state is State.PARKED and not world.kernel.run_queue
        private.close()
        os.close(pipe[0])
        os.close(pipe[1])
