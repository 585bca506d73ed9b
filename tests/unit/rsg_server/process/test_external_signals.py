"""A pending signal takes effect as one from outside only if no process of the emulation can have sent it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator

import pytest

from rsg_server.diagnosis import traces
from rsg_server.process import external_signals as outside
from rsg_server.process.actor import Actor, State
from rsg_server.process.external_signals import ExternalSignals
from rsg_server.process.process import Process, Timer
from rsg_server.protocol import Op, Wait, Wake
from rsg_server.wiring import external_signals_of
from simunix.launch import failures
from tests.unit.rsg_server.fakes import Fake, fake
from tests.unit.rsg_server.forms import interpreted_only
from tests.unit.rsg_server.handlers.test_handlers import ask, park

USR1 = 1 << (signal.SIGUSR1 - 1)


@pytest.fixture
def world() -> Iterator[Fake]:
    with fake() as made:
        yield made


def real(world: Fake, monkeypatch: pytest.MonkeyPatch, **status: str) -> Actor:
    """A process whose /proc/PID/status says this."""
    actor = world.born()
    actor.process.pidfd = os.pidfd_open(os.getpid())
    fields = {"State": "S (sleeping)", "TracerPid": "0", "ShdPnd": "0", "SigPnd": "0", "SigIgn": "0", "SigCgt": "0"} | status
    before = Process.status_fields
    monkeypatch.setattr(Process, "status_fields", lambda self: fields if self is actor.process else before(self))
    return actor


@interpreted_only
def test_a_waiting_thread_is_woken(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    actor = real(world, monkeypatch, ShdPnd=f"{USR1:x}")
    park(world, actor, Wait.TIME)
    assert external_signals_of(world.kernel).look()
    assert (actor.state, actor.reply[0]) == (State.READY, Wake.SIGNAL)
    assert not external_signals_of(world.kernel).look()


@pytest.mark.parametrize(
    ("status", "blocked", "wait"),
    [
        ({"ShdPnd": "0"}, 0, Wait.TIME),
        ({"ShdPnd": f"{USR1:x}", "SigIgn": f"{USR1:x}"}, 0, Wait.TIME),
        ({"ShdPnd": f"{1 << (signal.SIGCHLD - 1):x}"}, 0, Wait.TIME),
        ({"ShdPnd": f"{USR1:x}"}, USR1, Wait.TIME),
        ({"ShdPnd": f"{USR1:x}"}, 0, Wait.VFORK),
        ({"ShdPnd": f"{USR1:x}", "TracerPid": "7"}, 0, Wait.TIME),
        ({"State": "Z (zombie)"}, 0, Wait.TIME),
    ],
)
def test_nothing_is_made_of_what_may_be_so(
    world: Fake, monkeypatch: pytest.MonkeyPatch, status: dict[str, str], blocked: int, wait: Wait
) -> None:
    actor = real(world, monkeypatch, **status)
    child = world.born()
    child.process.parent = actor.process
    ask(world, actor, Op.PARK, int(wait), 0, -1, blocked, child.number, 0, 0)
    assert not external_signals_of(world.kernel).look()
    assert actor.state is State.PARKED


@interpreted_only
def test_a_timer_of_cpu_time_may_have_expired_while_a_charge_passes(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run under load said once that its own timer's signal came from outside."""
    actor = real(world, monkeypatch, ShdPnd=f"{USR1:x}")
    actor.process.timers[1] = Timer(signal=signal.SIGUSR1, cpu_of=actor.process)
    park(world, actor, Wait.TIME)
    assert not external_signals_of(world.kernel).look()
    actor.process.timers[1].cpu_of = None  # of virtual time: the server sends its signal and wakes the thread at once
    assert external_signals_of(world.kernel).look()


@interpreted_only
def test_a_thread_that_is_to_run_looks_itself(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    actor = real(world, monkeypatch, ShdPnd=f"{USR1:x}")
    assert actor.state is State.RUNNING
    assert not external_signals_of(world.kernel).look()


@interpreted_only
def test_a_signal_that_is_waited_for_counts_although_it_is_blocked(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    actor = real(world, monkeypatch, ShdPnd=f"{USR1:x}")
    ask(world, actor, Op.PARK, int(Wait.SIGNAL), 0, -1, USR1, USR1, 0, 0)
    assert external_signals_of(world.kernel).look()


def test_stops_and_continuations_are_followed(world: Fake) -> None:
    with subprocess.Popen(["sleep", "100"]) as sleeper:
        actor = world.born()
        actor.process.open_pidfd(sleeper.pid)
        park(world, actor, Wait.TIME)
        look = external_signals_of(world.kernel).look
        sleeper.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED)
        assert look() and actor.process.stopped and not look()
        sleeper.send_signal(signal.SIGCONT)
        os.waitid(os.P_PID, sleeper.pid, os.WCONTINUED)
        assert look() and not actor.process.stopped
        sleeper.kill()


@interpreted_only
def test_many_processes_are_looked_at_in_turns(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    for _ in range(5):
        world.born().process.pidfd = os.pidfd_open(os.getpid())
    monkeypatch.setattr(outside, "LOOK_MOST", 3)
    monkeypatch.setattr(ExternalSignals, "_look_at", lambda self, process: seen.append(process.number))
    look = external_signals_of(world.kernel).look
    look()
    look()
    assert seen == [1, 2, 3, 4, 5, 1]


@pytest.mark.parametrize("name", [outside.signal_name, traces.signal_name, failures.signal_name])
def test_every_number_has_words(name: Callable[[int], str]) -> None:
    """Numbers come from masks in shared memory and from statuses, so there may be any."""
    assert "SIGTERM" in name(15)
    assert all(name(number) for number in range(128))
