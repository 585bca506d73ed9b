"""Timerfds are found by descriptor, and closed once no process has them open."""

from __future__ import annotations

import os

import pytest

from rsg_server.process import timerfds
from rsg_server.process.timerfds import TimerFds
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.real_process import real_process, this_process


def test_a_timerfd_is_found_at_every_copy_of_its_descriptor(world: Fake) -> None:
    process, timers = this_process(world).process, TimerFds()
    timer = timers.create(is_real=True)
    copy = os.dup(timer.fd)
    assert timers.of(process, copy) is timer and timer.is_real
    os.close(copy)
    other = os.eventfd(0)
    assert timers.of(process, other) is None, "an eventfd of the application's own"
    os.close(other)
    assert timers.of(process, 0) is None
    with pytest.raises(FileNotFoundError):
        timers.of(process, 987654)
    timers.close()


def test_a_sweep_closes_what_no_process_has_open(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timerfds, "FIRST_SWEEP", 2)
    timers = TimerFds()
    timer = timers.create(is_real=False)
    timers.create(is_real=False)
    holder = this_process(world).process  # the test has the server's own copies open
    with real_process(world) as actor:
        timers.sweep([actor.process, holder])
        assert len(timers.all) == 2
        timers.sweep([actor.process])
    assert timers.all == {}
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(timer.fd)


def test_dead_timers_are_dropped_when_nothing_else_is_due(world: Fake) -> None:
    timers = TimerFds()
    timer = timers.create(is_real=False)
    timer.event = world.kernel.timeline.add(10**12, lambda: None)
    with real_process(world) as actor:
        assert not timers.drop_dead([actor.process], events=2), "something else is due"
        assert not timers.drop_dead([this_process(world).process], events=1), "the test has it open"
        assert timers.drop_dead([actor.process], events=1)
        assert not timers.drop_dead([actor.process], events=0), "there is none any more"
    assert timers.all == {} and len(world.kernel.timeline) == 0


def test_nothing_is_closed_while_a_process_is_out_of_sight(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timerfds, "FIRST_SWEEP", 1)
    timers = TimerFds()
    timers.create(is_real=False)
    timers.sweep([world.born().process])  # it has no pidfd: it has not said HELLO
    assert len(timers.all) == 1
    timers.close()
