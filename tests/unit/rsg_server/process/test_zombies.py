"""A death lasts until its zombie is gone, or is left to an emulated parent."""

from __future__ import annotations

import errno
import os
import threading
from types import SimpleNamespace

import pytest

from rsg_server.process.life import zombies
from rsg_server.process.life.zombies import Zombie
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.real_process import kill, real_process, this_process


def test_a_zombie_is_told_from_a_living_process_and_from_another_one(world: Fake) -> None:
    with real_process(world) as actor:
        pid = actor.process.pid
        assert Zombie(pid, pid).status() == {}, "it lives"
        kill(actor)
        assert Zombie(pid, pid).status()["State"].startswith("Z")
        assert Zombie(pid, pid + 1).status() == {}, "its number is another's"
    assert Zombie(pid, pid).status() == {}, "it has been waited for"


def test_an_emulated_parent_keeps_the_zombies_that_are_its_to_wait_for(world: Fake) -> None:
    parent = this_process(world).process
    with real_process(world) as actor, real_process(world) as orphan:
        kill(actor)
        kill(orphan)
        left_behind = Zombie(orphan.process.global_pid, orphan.process.pid)
        actor.process.zombies = [left_behind]
        actor.process.dead = True
        zombies.reap(world.kernel.warner, actor.process)
        assert parent.zombies == [Zombie(actor.process.global_pid, actor.process.pid), left_behind]
        assert actor.process.zombies == []


def test_the_parent_of_a_process_that_has_just_died_is_found_by_one_short_line(
    world: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = this_process(world).process
    with real_process(world) as actor:
        actor.process.parent = parent
        kill(actor)
        actor.process.dead = True
        monkeypatch.setattr(Zombie, "status", lambda self: pytest.fail("a file of many lines was read"))
        zombies.reap(world.kernel.warner, actor.process)
        assert [zombie.pid for zombie in parent.zombies] == [actor.process.pid]


@pytest.mark.parametrize("tells", [True, False], ids=["pidfd", "proc"])
def test_a_pidfd_tells_as_proc_does_who_is_to_wait(world: Fake, monkeypatch: pytest.MonkeyPatch, tells: bool) -> None:
    if not tells:  # before Linux 6.13
        monkeypatch.setattr(zombies, "lib", SimpleNamespace(watch_parent_of_zombie=lambda pidfd: -errno.ENOTTY))
    parent = this_process(world).process
    with real_process(world) as actor:
        process = actor.process
        process.parent = parent
        zombie = Zombie(process.global_pid, process.pid)
        assert zombies._keeper(process, zombie) is None, "it lives"
        kill(actor)
        assert zombies._keeper(process, zombie) is parent
        os.waitid(os.P_PID, process.global_pid, os.WEXITED)
        assert zombies._keeper(process, zombie) is None, "its parent has waited for it"


def test_a_zombie_of_no_emulated_process_is_waited_for(world: Fake) -> None:
    with real_process(world) as actor:
        kill(actor)
        init = threading.Timer(0.02, os.waitid, (os.P_PID, actor.process.global_pid, os.WEXITED))
        init.start()
        zombies.reap(world.kernel.warner, actor.process)
        assert actor.process.status_fields() == {}
        init.join()
        assert not world.kernel.warner.counts


def test_a_zombie_that_nobody_reaps_is_warned_of(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zombies, "REAPING_TIMEOUT_S", 0.01)
    with real_process(world) as actor:
        kill(actor)
        zombies.reap(world.kernel.warner, actor.process)
    assert world.kernel.warner.counts == {"not reaped": 1}


def test_a_parent_forgets_in_time_what_it_has_waited_for(world: Fake) -> None:
    parent = this_process(world).process
    gone = [Zombie(2**31 - 1, number) for number in range(31)]  # above every pid
    parent.zombies = list(gone)
    with real_process(world) as actor:
        kill(actor)
        actor.process.dead = True
        zombies.reap(world.kernel.warner, actor.process)
        assert parent.zombies == [Zombie(actor.process.global_pid, actor.process.pid)]
