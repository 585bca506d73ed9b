"""The consequences if a system call of the server itself fails, or if a process breaks the protocol."""

from __future__ import annotations

import errno
import os

import pytest

from rsg_server.errors import MORE_FILES, ServerError
from rsg_server.handlers.table import Handler, Reply
from rsg_server.turn.failures import Failures
from tests.unit.rsg_server.fakes import fake


def error(code: int) -> OSError:
    return OSError(code, os.strerror(code))


def handler(makes_descriptors: bool) -> Handler:
    return Handler("", lambda actor, arguments: Reply(), makes_descriptors)


def test_a_handler_that_changes_nothing_without_descriptors_replies_an_errno() -> None:
    with fake() as world:
        actor = world.born()
        reply = Failures(world.kernel.warner, world.kernel.deaths).own_failure(actor, handler(True), error(errno.EMFILE))
        assert reply.values == (-errno.ENFILE,)
        assert MORE_FILES in next(iter(world.kernel.warner.counts))


@pytest.mark.parametrize(("code", "makes_descriptors", "mends"), [(errno.EMFILE, False, True), (errno.EIO, True, False)])
def test_any_other_failure_ends_the_run_and_names_the_sender(code: int, makes_descriptors: bool, mends: bool) -> None:
    with fake() as world:
        actor = world.born()
        with pytest.raises(ServerError) as raised:
            Failures(world.kernel.warner, world.kernel.deaths).own_failure(actor, handler(makes_descriptors), error(code))
        assert repr(actor) in str(raised.value) and (MORE_FILES in str(raised.value)) is mends


def test_a_process_that_breaks_the_protocol_is_killed_and_no_other() -> None:
    with fake() as world:
        actor, other = world.born(), world.born()
        Failures(world.kernel.warner, world.kernel.deaths).kill(actor, "sends nonsense")
        assert actor.process.dead and not other.process.dead
        assert list(world.kernel.warner.counts) == [f"{actor!r} sends nonsense; the process is killed"]
