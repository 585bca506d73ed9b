"""The server starts the system bus of a host once, starts it again when it has ended, and not again if it cannot run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rsg_server.errors import SimunixError
from rsg_server.handlers.kernel_objects.system_bus import SystemBuses

FAILED, KILLED = 1 << 8, 9


class Room:
    """A kernel that warns, a host, and the buses that have been started on it."""

    def __init__(self) -> None:
        self.host: Any = SimpleNamespace(name="a", booted_ns=0)
        self.started: list[Any] = []
        self.warnings: list[str] = []
        self.buses = SystemBuses(self.warnings.append)
        self.buses.start = self.start

    def start(self, host: str) -> Any:
        self.started.append(SimpleNamespace(host=self.host, dead=False, exit_status=None))
        return self.started[-1]

    def end(self, status: int) -> None:
        self.started[-1].dead, self.started[-1].exit_status = True, status


def test_one_that_runs_is_not_started_again() -> None:
    room = Room()
    assert room.buses.ensure(room.host)
    assert room.buses.ensure(room.host)
    assert len(room.started) == 1
    assert room.buses.holds(room.started[0])


@pytest.mark.parametrize("status", [0, KILLED])
def test_one_that_has_ended_is_started_again(status: int) -> None:
    room = Room()
    room.buses.ensure(room.host)
    room.end(status)
    assert room.buses.ensure(room.host)
    assert [room.buses.holds(process) for process in room.started] == [False, True]


def test_one_that_could_not_listen_is_tried_again_after_a_boot() -> None:
    room = Room()
    room.buses.ensure(room.host)
    room.end(FAILED)
    assert not room.buses.ensure(room.host)
    room.host.booted_ns = 5
    assert room.buses.ensure(room.host)


def test_why_none_can_be_had_is_said() -> None:
    room = Room()
    assert not SystemBuses(cast(Any, None)).ensure(room.host)

    def start(host: str) -> Any:
        raise SimunixError("host a: no room")

    room.buses.start = start
    assert not room.buses.ensure(room.host)
    assert room.warnings == ["host a: no room; a has no system bus"]
