"""The values that the server sends to shims for files of /proc."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rsg_server.clock.file_stamps import next_tick_ns
from rsg_server.process.life.births import seed_of_image
from rsg_server.process.life.orphans import is_orphaned_group
from rsg_server.process.process import Process
from rsg_server.protocol import Op, Wait
from tests.unit.rsg_server.fakes import Fake, fake
from tests.unit.rsg_server.handlers.test_handlers import ask


def figures(world: Fake, host: str) -> tuple[object, ...]:
    """Status, threads, births, latest pid, seed, disk: as a new process of a host is told."""
    return ask(world, world.born(host), Op.HOST) or ()


def test_a_host_counts_its_own() -> None:
    with fake() as world:
        actor = world.born("h0")
        world.born("h1")
        ask(world, actor, Op.FORK, 0)
        status, threads, births, *_ = ask(world, actor, Op.HOST) or ()
        assert (status, threads, births) == (0, 2, 1)


def test_a_host_has_a_seed_of_its_own_that_stays() -> None:
    with fake() as world:
        assert figures(world, "h0")[4] == figures(world, "h0")[4] != figures(world, "h1")[4]


def test_a_birth_is_known_to_the_host_of_the_born() -> None:
    with fake() as world:
        world.kernel.clock.advance_to(5000)
        actor, other = world.born("h0"), world.born("h1")
        assert ask(world, actor, Op.BORN, actor.tid) == (0, 5000, 0, 0, 1, 0, 0)  # it has the turn, and no filters
        assert ask(world, actor, Op.BORN, other.tid) == (-3,)
        assert ask(world, actor, Op.BORN, 0) == (-3,)


def test_of_a_thread_is_known_whether_it_may_run() -> None:
    with fake() as world:
        asker, sleeper, yielder = world.born(), world.born(), world.born()
        world.park(sleeper, Wait.TIME)
        world.park(yielder, Wait.YIELD)
        may_run = [(ask(world, asker, Op.BORN, each.tid) or ())[4] for each in (asker, sleeper, yielder)]
        assert may_run == [1, 0, 1]


def test_filters_of_system_calls_are_known_and_inherited() -> None:
    with fake() as world:
        actor, other = world.born(), world.born()
        assert ask(world, actor, Op.FILTERS, 2, 3) == (0,)
        assert (ask(world, other, Op.BORN, actor.tid) or ())[5:] == (2, 3)
        assert world.kernel.births.new_process(actor.process.host, actor.process, "x").filters == (2, 3)


def test_a_group_is_orphaned_by_where_the_parents_of_its_members_are(monkeypatch: pytest.MonkeyPatch) -> None:
    groups, sessions = {1: 1, 2: 2, 3: 2}, {1: 1, 2: 1, 3: 1}
    monkeypatch.setattr(Process, "group", lambda process: groups[process.number])
    monkeypatch.setattr(Process, "session", lambda process: sessions[process.number])
    with fake() as world:
        leader, first, second = (world.born().process for _ in range(3))
        for number, process in enumerate((leader, first, second), 1):
            process.number = number
        second.parent = first
        assert is_orphaned_group(first) and is_orphaned_group(second)
        first.parent = leader
        assert not is_orphaned_group(second)
        sessions[1] = 7
        assert is_orphaned_group(second)


def test_a_new_image_draws_other_numbers() -> None:
    with fake() as world:
        process = world.born().process
        seeds = set()
        for process.images in range(3):
            seeds.add(seed_of_image(process))
        assert len(seeds) == 3


def test_what_was_stamped_before_a_tick_is_older(tmp_path: Path) -> None:
    (tmp_path / "before").touch()
    tick = next_tick_ns()
    (tmp_path / "after").touch()
    assert (tmp_path / "before").stat().st_ctime_ns < tick <= (tmp_path / "after").stat().st_ctime_ns <= time.time_ns()
