"""Orphans get the parent that the kernel gives them; a stopped group that is orphaned runs again."""

from __future__ import annotations

import signal

from rsg_server.process.actor import State
from rsg_server.process.life.orphans import hang_up_orphans, reparent
from rsg_server.protocol import Wait, Wake
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.real_process import real_process, stop, this_process


def test_an_orphan_goes_to_the_parent_that_proc_names(world: Fake) -> None:
    with real_process(world) as orphan:
        reparent(orphan.process)
        assert orphan.process.parent is None, "the test is no emulated process yet"
        parent = this_process(world).process
        reparent(orphan.process)
        assert orphan.process.parent is parent and parent.children == [orphan.process]


def test_an_orphan_that_is_gone_has_no_parent(world: Fake) -> None:
    orphan = world.born().process
    orphan.global_pid, orphan.parent = 2**31 - 1, world.born().process  # above every pid
    reparent(orphan)
    assert orphan.parent is None


def test_an_orphaned_group_that_the_kernel_has_continued_runs_again(world: Fake) -> None:
    with real_process(world, own_session=True) as actor:
        world.park(actor, Wait.TIME)
        actor.process.stopped = True  # as the server knows it; the kernel has continued it since
        hang_up_orphans(world.kernel.signals, actor.process.host)
        assert not actor.process.stopped
        assert actor.state is State.READY and actor.reply[0] == Wake.SIGNAL


def test_a_group_that_stays_stopped_is_left_alone(world: Fake) -> None:
    with real_process(world, own_session=True) as actor, real_process(world) as bystander:
        for each in (actor, bystander):
            world.park(each, Wait.TIME)
        stop(actor)
        actor.process.stopped = True
        hang_up_orphans(world.kernel.signals, actor.process.host)
        assert actor.process.stopped
        assert (actor.state, bystander.state) == (State.PARKED, State.PARKED)


def test_a_group_without_a_stopped_member_hears_nothing(world: Fake) -> None:
    with real_process(world, own_session=True) as actor:
        world.park(actor, Wait.TIME, blocked=1 << (signal.SIGHUP - 1))
        hang_up_orphans(world.kernel.signals, actor.process.host)
        assert actor.state is State.PARKED
