"""poll(2) reports a control file whose text differs from what a process has read, until the process reads it again."""

from __future__ import annotations

from pathlib import Path

from rsg_server.process.actor import State
from rsg_server.protocol import CGROUP_READ_AGAIN, CGROUP_READ_NOW, Wait
from tests.unit.rsg_server.cgroups.test_hierarchy import tree_of
from tests.unit.rsg_server.fakes import Fake

SOON = 0


def test_news_are_there_until_they_are_read_and_wake_who_has_asked(world: Fake, tmp_path: Path) -> None:
    with tree_of(world, tmp_path) as tree:
        tree.make("a")
        reader, other, member = world.born(), world.born(), world.born()
        news, inode = tree.hierarchy.news, tree.look("a/cgroup.events")
        news.reads(reader.process, inode, SOON)
        assert news.are_there(reader, inode, True), "it has only been opened"
        assert not news.are_there(reader, inode, False), "it has been read since it was opened"
        assert news.are_there(other, inode, True)
        news.reads(other.process, inode, CGROUP_READ_NOW)
        assert not news.are_there(other, inode, True)
        world.park(reader, Wait.FD)
        world.park(other, Wait.COMPUTE, a=10**12)
        tree.write("a/cgroup.procs", str(member.process.pid), member)
        assert reader.state is State.READY and other.state is State.PARKED, "other waits for something else by now"
        assert news.are_there(reader, inode, False), "the change has come after the read"
        news.reads(reader.process, inode, CGROUP_READ_AGAIN)
        assert news.are_there(reader, inode, True), "it has not been read after the seek"
        assert not news.are_there(reader, inode, False)


def test_what_does_not_tell_has_no_news(world: Fake, tmp_path: Path) -> None:
    with tree_of(world, tmp_path) as tree:
        tree.make("a")
        actor = world.born()
        assert not tree.hierarchy.news.are_there(actor, (tmp_path / "a/cgroup.procs").stat().st_ino, True)
        assert not tree.hierarchy.news.are_there(actor, 0, True)
