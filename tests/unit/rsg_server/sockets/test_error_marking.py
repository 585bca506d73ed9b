"""An application's own end shows an error once the server has closed its end with a byte unread."""

from __future__ import annotations

import os
import select
import socket

import pytest

from rsg_server.sockets.error_marking import close_with_error, copy_of
from rsg_server.sockets.kinds.stream import StreamSocket
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import new


def events_of(application: socket.socket) -> int:
    poller = select.poll()
    poller.register(application)
    return poller.poll(0)[0][1]


@pytest.mark.parametrize("has_written", [False, True])
def test_the_holder_s_descriptor_shows_the_error(world: Fake, has_written: bool) -> None:
    """This test is the process that holds the application's end."""
    which, application = new(world)
    actor = world.born("h0")
    actor.process.open_pidfd(os.getpid())
    if has_written:
        application.send(b"unread")
    with application:
        assert close_with_error(which)
        assert which.is_broken and events_of(application) & select.POLLERR
        with pytest.raises(ConnectionResetError):
            application.recv(1)


def test_an_end_that_is_not_handed_out_yet_needs_no_holder(world: Fake) -> None:
    which = world.kernel.sockets.create(world.kernel.hosts["h0"], 4, StreamSocket)
    assert which.app_end is not None
    assert close_with_error(which)
    assert events_of(which.app_end) & select.POLLERR


def test_without_a_holder_the_end_is_closed_all_the_same(world: Fake) -> None:
    which, application = new(world)
    with application:
        assert not close_with_error(which)
        assert which.is_broken and not events_of(application) & select.POLLERR


def test_descriptors_beyond_the_limit_are_not_the_application_s(world: Fake) -> None:
    which, application = new(world)
    actor = world.born("h0")
    actor.process.open_pidfd(os.getpid())
    actor.process.descriptor_floor = application.fileno()
    with application:
        assert not close_with_error(which)


def test_only_sockets_are_copied(world: Fake) -> None:
    actor = world.born("h0")
    actor.process.open_pidfd(os.getpid())
    with open("/dev/null") as file:
        assert copy_of(actor.process, file.fileno()) is None
    assert copy_of(actor.process, 1 << 20) is None
