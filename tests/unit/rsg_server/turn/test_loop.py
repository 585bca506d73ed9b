"""The turn loop and actors that do not read replies, never give the turn back, or are killed from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import msgpack
import pytest

from rsg_server.process.actor import State
from rsg_server.protocol import Op, Wait
from rsg_server.turn.loop import Outcome
from tests.unit.rsg_server.fakes import Fake, fake

MANY = 2000
FOREVER = [int(Op.PARK), int(Wait.TIME), 35, -1, 0, 0, 0, 0]


def ready(world: Fake, *messages: list[object]) -> tuple[int, object]:
    """A process that has sent these messages and waits for its turn; its number and its end of the channel."""
    actor = world.born()
    actor.state = State.PARKED
    world.kernel.parking.make_ready(actor)
    channel = world.channels[actor.number]
    for message in messages:
        channel.send(msgpack.packb(message))
    return actor.number, channel


def test_who_does_not_read_the_answers_is_killed() -> None:
    """Its full channel must not make the server wait."""
    with fake() as world:
        number, channel = ready(world)
        channel.setblocking(False)  # type: ignore[attr-defined]
        for _ in range(MANY):
            try:
                channel.send(msgpack.packb([int(Op.NOFILE), 1, 1, 1]))  # type: ignore[attr-defined]
            except BlockingIOError:
                if world.loop.run(0.01) is Outcome.IDLE:
                    break
        assert number not in world.kernel.actors
        assert "does not read its answers" in " ".join(world.kernel.warner.counts)


def test_a_timer_that_nobody_heeds_does_not_keep_the_loop_for_ever() -> None:
    with fake() as world:
        ready(world, [int(Op.TIMER_SET), 0, 1, 1, 0, 0, 0], FOREVER)
        started = time.monotonic()
        assert world.loop.run(0.05) is Outcome.BUDGET
        assert time.monotonic() - started < 5


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_process_that_was_killed_from_outside_is_buried_before_anybody_speaks_of_a_deadlock(number: int) -> None:
    with fake() as world, subprocess.Popen(["sleep", "100"]) as real:
        victim, _ = ready(world, FOREVER)
        process = world.kernel.actors[victim].process
        process.open_pidfd(real.pid)
        world.kernel.readiness.watch(process.pidfd, process)
        assert world.loop.run(0.1) is Outcome.IDLE
        os.kill(real.pid, number)
        real.wait()
        assert world.loop.run(0.1) is Outcome.IDLE
        assert process.dead and not world.kernel.processes
