"""The server reads the signals, the group and the end of a process in /proc."""

from __future__ import annotations

import os
import signal

import pytest

from rsg_server.process.process import status_fields
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.real_process import kill, real_process


def test_signals_are_new_once_each_in_ascending_order(world: Fake) -> None:
    with real_process(world, blocked=signal.SIGUSR2) as actor:
        process = actor.process
        assert process.new_pending() == []
        os.kill(process.global_pid, signal.SIGUSR2)
        assert process.new_pending() == [signal.SIGUSR2]
        assert process.new_pending() == []


def test_the_group_of_a_session_leader_is_its_own(world: Fake) -> None:
    with real_process(world, own_session=True) as actor:
        assert actor.process.group() == actor.process.pid


def test_a_process_that_is_gone_says_nothing(world: Fake) -> None:
    process = world.born().process
    process.global_pid = 2**31 - 1  # above every pid
    assert process.status_fields() == {}
    assert process.group() == -1
    assert process.new_pending() == []
    with pytest.raises(ProcessLookupError):
        process.open_pidfd(process.global_pid)


def test_a_zombie_still_has_a_status(world: Fake) -> None:
    with real_process(world) as actor:
        kill(actor)
        assert status_fields(actor.process.pid)["State"].startswith("Z")


def test_a_process_is_called_by_program_pid_and_host(world: Fake) -> None:
    process = world.born("h1", pid=7).process
    assert repr(process) == "fake[7]@h1"
    process.program = ""
    assert repr(process) == "?[7]@h1"
