"""Sockets that are stored with a holder come back as they were, and are watched meanwhile."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rsg_server.errors import ServerError
from rsg_server.fd_store.storable import Storable
from rsg_server.process.actor import State
from rsg_server.sockets.kinds.stream import StreamSocket
from tests.unit.rsg_server.fakes import Fake, fake

COUNT = 6
ACTS = st.lists(st.tuples(st.sampled_from(["write", "read", "store"]), st.integers(0, COUNT - 1)), max_size=40)


@pytest.fixture
def world() -> Iterator[Fake]:
    with fake() as made:
        yield made


def sockets_of(world: Fake) -> list[StreamSocket]:
    return [world.kernel.sockets.create(world.kernel.hosts["h0"], 4, StreamSocket) for _ in range(COUNT)]


def store(world: Fake, *some: Storable) -> None:
    """As if the server were short of descriptors, and all others had just been used."""
    for one in [*world.kernel.sockets.all.values(), *world.kernel.actors.values()]:
        one.is_warm = one not in some
    world.kernel.fd_store._make_room()
    assert all(one.held is None for one in some)


def news(world: Fake) -> list[object]:
    world.kernel.readiness.look(world.kernel.parking)
    return [target for target, _ in world.kernel.readiness.news()]


def test_what_is_stored_is_watched_and_comes_back_with_all_that_has_arrived(world: Fake) -> None:
    first, second, *_ = sockets_of(world)
    store(world, first, second)
    assert news(world) == []
    for which, text in ((second, b"two"), (first, b"one")):
        assert which.app_end is not None
        which.app_end.send(text)
    assert news(world) == [first, second]
    assert (first.read(), second.read()) == (b"one", b"two")
    assert first.read() is None  # not blocking, as before
    assert news(world) == []


def test_a_holder_that_somebody_stops_is_continued(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is asked, and at the end of the run."""
    monkeypatch.setattr("rsg_server.fd_store.store.SILENCE_S", 0.05)
    first, second, *_ = sockets_of(world)
    store(world, first)
    holder = world.kernel.fd_store._holders[0]
    os.kill(holder._process.pid, signal.SIGSTOP)
    store(world, second)
    assert first.read() is None and first.held is not None
    os.kill(holder._process.pid, signal.SIGSTOP)
    holder.close()
    world.kernel.fd_store._holders.clear()


def test_what_was_not_to_be_reported_is_not_by_the_keeper_either(world: Fake) -> None:
    which = sockets_of(world)[0]
    assert which.app_end is not None
    which.events = 0
    world.kernel.readiness.modify(which.end.fileno(), which, 0)
    store(world, which)
    which.app_end.send(b"later")
    assert news(world) == []
    world.kernel.sockets.set_events(which)
    assert news(world) == [which]


def test_an_end_is_told_of_a_stored_socket(world: Fake) -> None:
    which = sockets_of(world)[0]
    assert which.app_end is not None
    store(world, which)
    which.app_end.close()
    assert news(world) == [which]
    assert which.read() == b""


def test_the_channel_of_an_actor_that_waits_can_be_stored(world: Fake) -> None:
    actor = world.born()
    actor.state = State.PARKED
    store(world, actor)
    world.channels[actor.number].send(b"x")
    assert actor.channel.recv(10) == b"x"
    actor.channel.send(b"y")
    assert world.channels[actor.number].recv(10) == b"y"


def test_a_stored_socket_that_is_closed_ends_for_its_application(world: Fake) -> None:
    which = sockets_of(world)[0]
    application = which.app_end
    assert application is not None
    which.app_end = None
    store(world, which)
    world.kernel.sockets.vanish(which)
    assert which.is_broken
    assert application.recv(1) == b""
    application.close()


def test_new_descriptors_make_room_when_they_are_many(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    some = sockets_of(world)
    world.kernel.fd_store.check(some[-1].end.fileno())
    assert world.kernel.fd_store.stored == 0
    monkeypatch.setattr(world.kernel.fd_store, "_most", some[-1].end.fileno())
    fresh = sockets_of(world)  # the first of them takes a number beyond the reserve
    assert world.kernel.fd_store.stored >= COUNT
    for which in [*some, *fresh]:
        assert which.app_end is not None
        which.app_end.send(b"!")
        assert which.read() == b"!"


def test_a_keeper_that_has_died_is_said_in_a_line(world: Fake) -> None:
    which = sockets_of(world)[0]
    store(world, which)
    process = world.kernel.fd_store._holders[0]._process
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with pytest.raises(ServerError, match="holder of the server's descriptors has died"):
        which.read()
    which.held = socket.socket()
    which.held.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ACTS)
def test_news_is_the_same_wherever_the_sockets_are(world: Fake, acts: list[tuple[str, int]]) -> None:
    for old in list(world.kernel.sockets.all.values()):
        world.kernel.sockets.vanish(old)
    some = sockets_of(world)
    unread = [b""] * COUNT
    for act, index in acts:
        which = some[index]
        assert which.app_end is not None
        if act == "write":
            which.app_end.send(b"%d" % index)
            unread[index] += b"%d" % index
        elif act == "read":
            assert (which.read() or b"") == unread[index]
            unread[index] = b""
        elif which.held is not None:
            store(world, which)
        assert news(world) == [each for each, text in zip(some, unread, strict=True) if text]
