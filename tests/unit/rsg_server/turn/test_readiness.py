"""Which targets have become ready, and how often the server is told."""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Iterator

import pytest

from rsg_server.clock.timeline import Timeline
from rsg_server.process.actor import Actor, State
from rsg_server.turn.readiness import Readiness, Target
from tests.unit.rsg_server.fakes import Fake, fake
from tests.unit.rsg_server.parts import new_parking


def news_of(readiness: Readiness) -> list[tuple[Target, int]]:
    """Look, and say what has been found."""
    readiness.look(new_parking(Timeline()))
    return readiness.news()


class Waiter:
    """An actor that waits for a pipe with a private epoll."""

    def __init__(self, world: Fake) -> None:
        self.readiness = world.kernel.readiness
        self.actor: Actor = world.born()
        self.reads, self.writes = os.pipe()
        self.epoll = select.epoll()  # the shim's own
        with select.epoll.fromfd(os.dup(self.epoll.fileno())) as copy:
            self.readiness.watch(copy.fileno(), self.actor)
        self.wait()

    def wait(self) -> None:
        """As the shim does: the descriptor is put into the epoll for each wait."""
        with contextlib.suppress(FileNotFoundError):
            self.epoll.unregister(self.reads)
        self.epoll.register(self.reads, select.EPOLLIN)
        self.actor.state = State.PARKED

    def close(self) -> None:
        self.epoll.close()
        os.close(self.reads)
        os.close(self.writes)


@pytest.fixture
def waiters() -> Iterator[list[Waiter]]:
    with fake() as world:
        made = [Waiter(world) for _ in range(3)]
        yield made
        for waiter in made:
            waiter.close()


def told(waiters: list[Waiter]) -> list[int]:
    """Positions of those of whom there is news."""
    actors = [waiter.actor for waiter in waiters]
    return [actors.index(target) for target, _ in news_of(waiters[0].readiness)]  # type: ignore[arg-type]


def test_readiness_is_told_in_the_order_of_our_own_numbers_and_once(waiters: list[Waiter]) -> None:
    assert told(waiters) == []
    for waiter in reversed(waiters):
        os.write(waiter.writes, b"x")
    assert told(waiters) == [0, 1, 2]
    assert told(waiters) == []


def test_who_waits_again_is_told_again_of_what_it_has_not_read(waiters: list[Waiter]) -> None:
    os.write(waiters[1].writes, b"xy")
    assert told(waiters) == [1]
    os.read(waiters[1].reads, 1)
    waiters[1].wait()
    assert told(waiters) == [1]
    os.read(waiters[1].reads, 1)
    waiters[1].wait()
    assert told(waiters) == []
    os.write(waiters[1].writes, b"z")
    assert told(waiters) == [1]


def test_what_becomes_ready_while_its_actor_runs_is_told_when_that_waits(waiters: list[Waiter]) -> None:
    waiters[2].actor.state = State.RUNNING
    os.write(waiters[2].writes, b"x")
    assert told(waiters) == []
    waiters[2].wait()
    assert told(waiters) == [2]


def test_an_actor_that_has_ended_is_not_told_of_whoever_keeps_its_epoll(waiters: list[Waiter]) -> None:
    os.write(waiters[0].writes, b"x")
    waiters[0].readiness.forget(waiters[0].actor)
    assert told(waiters) == []
    assert waiters[0].actor not in waiters[0].readiness


def test_a_descriptor_is_told_of_as_long_as_it_is_ready(waiters: list[Waiter]) -> None:
    readiness, process = waiters[0].readiness, waiters[0].actor.process
    readiness.watch(waiters[0].reads, process)
    os.write(waiters[0].writes, b"x")
    assert [target for target, _ in news_of(readiness)] == [process, waiters[0].actor]
    assert [target for target, _ in news_of(readiness)] == [process]
    readiness.unwatch(waiters[0].reads, process)
    readiness.unwatch(waiters[0].reads, process)
    assert told(waiters) == []
    assert process not in readiness


def test_what_cannot_be_watched_is_an_error(waiters: list[Waiter]) -> None:
    with open(__file__) as file, pytest.raises(PermissionError):
        waiters[0].readiness.watch(file.fileno(), waiters[0].actor.process)
