"""The tree of groups of a host, in a folder of the test's own: what files there are, who is where, what is refused."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rsg_server.cgroups import cpuset
from rsg_server.cgroups.cgroups import FILES, ROOT_FILES
from rsg_server.cgroups.control_file import RefusedError, Request
from rsg_server.cgroups.group import Group
from rsg_server.cgroups.hierarchy import Hierarchy
from rsg_server.cgroups.memory_files import size
from rsg_server.cgroups.real_files import RealFiles
from rsg_server.process.actor import Actor
from tests.unit.rsg_server.fakes import Fake


class Tree:
    """A hierarchy, and the folder that its real files are in."""

    def __init__(self, world: Fake, folder: Path) -> None:
        self.world, self.folder = world, folder
        for name in ROOT_FILES:
            (folder / name).touch()
        (folder / "system.slice").mkdir()
        opened = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        kernel = world.kernel
        self.hierarchy = Hierarchy(
            kernel.cgroups._controlled, kernel.hosts["h0"], RealFiles(opened), FILES, kernel.cgroups.memory
        )

    def make(self, path: str) -> Group:
        folder = self.folder / path
        folder.mkdir()
        self.hierarchy.make(folder.parent.stat().st_ino, folder.stat().st_ino, folder.name)
        return self.hierarchy.groups[folder.stat().st_ino]

    def look(self, path: str) -> int:
        """The inode of a control file that a program asks for; raises RefusedError if there is none."""
        file = self.folder / path
        if not file.exists():
            self.hierarchy.appear(file.parent.stat().st_ino, file.name)
        return file.stat().st_ino

    def write(self, path: str, text: str, actor: Actor, user: int = 0) -> None:
        group, file = self.hierarchy.files[self.look(path)]
        assert file.write is not None
        file.write(Request(self.hierarchy, group, text, actor.process, user))

    def read(self, path: str) -> str:
        self.hierarchy.refresh(self.look(path))
        return (self.folder / path).read_text()

    def absence(self, path: str) -> int:
        """With which errno a file is not there."""
        with pytest.raises(RefusedError) as caught:
            self.look(path)
        return caught.value.number

    def refusal(self, path: str, text: str, actor: Actor, user: int = 0) -> int:
        with pytest.raises(RefusedError) as caught:
            self.write(path, text, actor, user)
        return caught.value.number


@contextmanager
def tree_of(world: Fake, folder: Path) -> Iterator[Tree]:
    tree = Tree(world, folder)
    yield tree
    tree.hierarchy.close()


def test_files_come_and_go_with_the_controllers_that_are_passed_on(world: Fake, tmp_path: Path) -> None:
    with tree_of(world, tmp_path) as tree:
        actor = world.born()
        tree.make("a")
        tree.make("a/b")
        assert tree.look("a/memory.max") and tree.absence("a/b/memory.max") == errno.ENOENT
        tree.write("a/cgroup.subtree_control", "+memory +pids\n", actor)
        assert tree.read("a/b/cgroup.controllers") == "memory pids\n" and tree.read("a/b/memory.max") == "max\n"
        tree.write("a/b/cgroup.subtree_control", "+memory", actor)
        assert tree.refusal("a/cgroup.subtree_control", "-memory", actor) == errno.EBUSY
        tree.write("a/cgroup.subtree_control", "-pids", actor)
        assert tree.absence("a/b/pids.max") == errno.ENOENT
        assert tree.refusal("a/b/cgroup.subtree_control", "+pids", actor) == errno.ENOENT
        assert tree.refusal("a/cgroup.subtree_control", "+rdma", actor) == errno.EINVAL
        assert tree.read("system.slice/cgroup.subtree_control") == "cpuset cpu io memory pids\n"


def test_a_file_is_there_from_the_moment_on_at_which_somebody_asks_for_it(world: Fake, tmp_path: Path) -> None:
    with tree_of(world, tmp_path) as tree:
        a = tree.make("a")
        assert [file.name for file in (tmp_path / "a").iterdir()] == ["cgroup.procs"], "or the kernel would remove the folder"
        tree.hierarchy.appear(a.inode, "pids.events")
        tree.hierarchy.appear(a.inode, "pids.events")
        assert sorted(os.listdir(tmp_path / "a")) == ["cgroup.procs", "pids.events"]
        tree.make("a/b")
        tree.hierarchy.appear(a.inode, "")
        assert sorted(os.listdir(tmp_path / "a")) == ["b", *sorted(name for name, file in FILES.items() if file.is_of(a))]
        assert tree.absence("a/pids.current.max") == tree.absence("a/b/memory.max") == errno.ENOENT
        b = a.children["b"]
        tree.hierarchy.appear(b.inode, "")
        tree.write("a/cgroup.subtree_control", "+pids", world.born())
        assert (tmp_path / "a/b/pids.max").exists(), "whoever watches the folder is told of the file"
        tree.hierarchy.remove(b.inode)
        assert not (tmp_path / "a/b").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="files are given away")
def test_a_file_that_appears_late_has_the_owner_that_it_would_have_had(world: Fake, tmp_path: Path) -> None:
    with tree_of(world, tmp_path) as tree:
        a = tree.make("a")
        os.chown(tmp_path / "a", 7, 7)
        (tmp_path / "a/b").mkdir()
        os.chown(tmp_path / "a/b", 8, 9)
        tree.hierarchy.make(a.inode, (tmp_path / "a/b").stat().st_ino, "b")
        tree.hierarchy.pass_on(a, frozenset({"pids"}), (5, 6))
        for name, owner in (("a/cgroup.type", 0), ("a/b/cgroup.type", 8), ("a/b/pids.max", 5)):
            tree.look(name)
            assert (tmp_path / name).stat().st_uid == owner, name


def test_no_process_is_beside_groups_that_have_controllers(world: Fake, tmp_path: Path) -> None:
    with tree_of(world, tmp_path) as tree:
        actor, other = world.born(), world.born()
        tree.make("a")
        tree.make("a/b")
        tree.write("a/cgroup.procs", "0", actor)
        assert tree.refusal("a/cgroup.subtree_control", "+memory", actor) == errno.EBUSY
        tree.write("a/cgroup.subtree_control", "+pids", actor)  # which threads may share out
        assert tree.read("a/cgroup.type") == "domain threaded\n" and tree.read("a/b/cgroup.type") == "domain invalid\n"
        assert tree.refusal("a/b/cgroup.procs", str(other.process.pid), actor) == errno.EOPNOTSUPP
        tree.write("cgroup.procs", "0", actor)
        tree.write("a/cgroup.subtree_control", "+memory", actor)
        assert tree.refusal("a/cgroup.procs", "0", actor) == errno.EBUSY
        tree.write("a/b/cgroup.procs", "0", actor)
        assert tree.read("a/b/cgroup.procs") == f"{actor.process.pid}\n"
        assert tree.read("cgroup.procs") == f"{other.process.pid}\n"


def test_whoever_is_not_root_moves_processes_within_what_is_delegated(world: Fake, tmp_path: Path) -> None:
    with tree_of(world, tmp_path) as tree:
        actor = world.born()
        actor.process.global_pid = os.getpid()
        for path in ("a", "a/b", "a/c"):
            tree.make(path)
        tree.write("a/b/cgroup.procs", "0", actor)
        tree.write("a/c/cgroup.procs", "0", actor, user=1000)  # cgroup.procs of a is the writer's
        if os.geteuid() == 0:
            os.chown(tmp_path / "a/cgroup.procs", 1, 1)
            assert tree.refusal("a/b/cgroup.procs", "0", actor, user=1000) == errno.EACCES


def test_events_are_told_once_by_the_real_file(world: Fake, tmp_path: Path) -> None:
    with tree_of(world, tmp_path) as tree:
        actor = world.born()
        tree.make("a")
        tree.make("a/b")
        events = tmp_path / "a/cgroup.events"
        tree.look("a/cgroup.events")
        assert events.read_text() == "populated 0\nfrozen 0\n"
        tree.write("a/b/cgroup.procs", "0", actor)
        assert events.read_text() == "populated 1\nfrozen 0\n"
        changed_ns = events.stat().st_mtime_ns
        tree.hierarchy.refresh(events.stat().st_ino)
        assert events.stat().st_mtime_ns == changed_ns
        tree.hierarchy.leave(actor.process)
        assert events.read_text() == "populated 0\nfrozen 0\n"


def test_a_move_below_a_group_is_no_event_of_that_group(world: Fake, tmp_path: Path) -> None:
    with tree_of(world, tmp_path) as tree:
        actor = world.born()
        for path in ("a", "a/b", "a/c"):
            tree.make(path)
        tree.write("a/b/cgroup.procs", "0", actor)
        inode = tree.look("a/cgroup.events")
        tree.look("a/b/cgroup.events"), tree.look("a/c/cgroup.events")
        before = tree.hierarchy.news._changes[inode]
        tree.write("a/c/cgroup.procs", "0", actor)
        assert tree.hierarchy.news._changes[inode] == before
        assert (tmp_path / "a/b/cgroup.events").read_text() == "populated 0\nfrozen 0\n"
        assert (tmp_path / "a/c/cgroup.events").read_text() == "populated 1\nfrozen 0\n"
        assert tree.hierarchy.root.populace == tree.hierarchy.root.children["a"].populace == 1
        tree.write("cgroup.procs", "0", actor)
        assert (tmp_path / "a/cgroup.events").read_text() == "populated 0\nfrozen 0\n"


@pytest.mark.parametrize(
    ("text", "mask"),
    [("", 0), ("0", 1), ("0-2,4\n", 0b10111), ("1,1", 0b10)],
)
def test_lists_of_processors(text: str, mask: int) -> None:
    assert cpuset.parsed(text) == mask
    assert cpuset.parsed(cpuset.listed(mask)) == mask


@pytest.mark.parametrize("text", ["a", "2-1", "1-", "-1", "0x1"])
def test_what_is_no_list(text: str) -> None:
    with pytest.raises(RefusedError):
        cpuset.parsed(text)


def test_sizes_are_whole_pages() -> None:
    assert [size(text) for text in ("max", "0", "4095", "5000", "1k", "4K", "2M", "1g")] == [
        *(-1, 0, 0, 4096, 0, 4096),
        *(2 << 20, 1 << 30),
    ]
    for text in ("-1", "1 M", "much", ""):
        with pytest.raises(RefusedError):
            size(text)
