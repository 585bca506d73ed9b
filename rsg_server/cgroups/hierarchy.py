"""The tree of cgroups of one host, from its boot on: makes and removes groups and control files, and moves processes.

Each process is in one group, `process.cgroup`; None stands for the root. The shim names groups and control files by the
numbers of their inodes.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable

from rsg_server.cgroups import cpu, cpuset, freezer, io
from rsg_server.cgroups.control_file import ControlFile, RefusedError
from rsg_server.cgroups.controlled import Controlled
from rsg_server.cgroups.group import NO_LIMIT, Group, group_of
from rsg_server.cgroups.memory import Memory
from rsg_server.cgroups.news import News
from rsg_server.cgroups.real_files import RealFiles
from rsg_server.process.host_state import HostState
from rsg_server.process.process import Process

SLICES = ("system.slice", "user.slice")
"""Groups that every host has from the beginning, as under systemd. Daemons make their own cgroups below these."""
CONTROLLERS = "cgroup.controllers"
PROMPT = ("cgroup.procs",)
"""The control files that a cgroup has from the beginning.

With one file in its folder, no group can be removed by rmdir(2) without the server. Other files are made when a program
asks for them (csrc/shim/sys/cgroup/absent.c): most are never looked at, and each would take a kilobyte and 7 µs.
"""


class Hierarchy:
    """The tree of cgroups of one host. `files` are all kinds of control files, by name.

    The host boots with a folder for each of SLICES; the constructor makes them groups. The root and the SLICES pass all
    controllers on to their children, as systemd does for units with Delegate=yes.
    """

    def __init__(
        self, controlled: Controlled, host: HostState, real: RealFiles, files: dict[str, ControlFile], memory: Memory
    ) -> None:
        self.controlled, self.host, self.real, self.memory = controlled, host, real, memory
        self._known = files
        controllers = frozenset(file.controller for file in files.values() if file.controller)
        self.root = Group("", None, real.inode(), controllers, controllers)
        self.groups = {self.root.inode: self.root}
        self.files: dict[int, tuple[Group, ControlFile]] = {}
        self.news = News(controlled.wake)
        self._told: dict[int, str] = {}  # the last text of each control file that `tells`, by inode
        self._learn(self.root)
        for name, inode in sorted(real.listing("", folders=True).items()):
            if name in SLICES:
                self.make(self.root.inode, inode, name)
                self.pass_on(self.groups[inode], controllers, real.owner(name))

    # Groups

    def make(self, above: int, inode: int, name: str) -> None:
        """Make a program's new folder a cgroup. Raises RefusedError, and removes the folder, if the group is not allowed."""
        parent = self.groups.get(above)
        path = f"{parent.path.rstrip('/') if parent else ''}/{name}".lstrip("/")
        if parent is None or "\n" in name or self._is_too_many(parent):
            self.real.remove_folder(path)
            raise RefusedError(errno.ENODEV if parent is None else errno.EINVAL if "\n" in name else errno.EAGAIN)
        group = Group(name, parent, inode, parent.passed, owner=self.real.owner(path))
        parent.children[name] = group
        self.groups[inode] = group
        self._add_files(group, [self._known[file] for file in PROMPT])

    def _is_too_many(self, parent: Group) -> bool:
        """Return whether one more group below `parent` would exceed a cgroup.max.depth or cgroup.max.descendants."""
        for level, group in enumerate(parent.up(), 1):
            depth, most = group.number("cgroup.max.depth"), group.number("cgroup.max.descendants")
            if depth != NO_LIMIT and level > depth:
                return True
            if most != NO_LIMIT and sum(1 for _ in group.down()) > most:
                return True
        return False

    def remove(self, inode: int) -> None:
        """Remove a cgroup and its folder. Raises RefusedError if the group has processes or children."""
        group = self.groups.get(inode)
        if group is None or group.parent is None:
            raise RefusedError(errno.EBUSY if group is not None else errno.ENODEV)
        if group.children or group.processes:
            raise RefusedError(errno.EBUSY)
        self._remove_files(group, list(group.files))
        self.real.remove_folder(group.path[1:])
        del group.parent.children[group.name], self.groups[inode]
        self.controlled.on_removed.tell(group)

    def pass_on(self, group: Group, controllers: frozenset[str], owner: tuple[int, int]) -> None:
        """Set the controllers that the children of a cgroup get, and make or remove their control files accordingly."""
        group.passed = controllers
        for child in group.children.values():
            child.owners |= dict.fromkeys(controllers - child.controllers, owner)
            child.controllers = controllers
            io.follow(self, child)
            for process in list(child.members()):
                self.memory.follow(process)
                cpuset.follow(self, process)
            self._remove_files(child, [name for name in child.files if not self._known[name].is_of(child)])
            if child.is_listed:
                self._add_files(child, self._absent(child))
            self.keep(child, CONTROLLERS)
        self.controlled.notices.tell_cgroup_moves()

    # Control files

    def _learn(self, group: Group) -> None:
        """Record the inodes of the control files of a cgroup."""
        for name, inode in self.real.listing(group.path[1:]).items():
            if name in self._known and name not in group.files:
                group.files[name] = inode
                self.files[inode] = (group, self._known[name])

    def appear(self, inode: int, name: str) -> None:
        """Make a control file that a program has asked for by `name`; with an empty name, all files that the folder's
        group may have.

        Raises RefusedError if the cgroup can have no such file.
        """
        group = self.groups.get(inode)
        if group is None or (name and (name not in self._known or not self._known[name].is_of(group))):
            raise RefusedError(errno.ENOENT)
        if not name:
            group.is_listed = True
            self._add_files(group, self._absent(group))
        elif name not in group.files:
            self._add_files(group, [self._known[name]])

    def _absent(self, group: Group) -> list[ControlFile]:
        """Return the kinds of control files that a cgroup may have but does not have yet."""
        return [file for name, file in self._known.items() if name not in group.files and file.is_of(group)]

    def _add_files(self, group: Group, fresh: list[ControlFile]) -> None:
        for owner in dict.fromkeys(group.owners.get(file.controller, group.owner) for file in fresh):
            self._make_files(group, [file for file in fresh if group.owners.get(file.controller, group.owner) == owner], owner)

    def _make_files(self, group: Group, fresh: list[ControlFile], owner: tuple[int, int]) -> None:
        texts = [file.read(self, group) if file.read and (file.tells or file.is_kept) else "" for file in fresh]
        files = [(file.name, file.mode, text) for file, text in zip(fresh, texts, strict=True)]
        for file, text, inode in zip(fresh, texts, self.real.make(group.path[1:], files, owner), strict=True):
            group.files[file.name] = inode
            self.files[inode] = (group, file)
            if file.tells:
                self._says(inode, text)
        if group.is_listed and any(file.tells for file in fresh):
            self.controlled.on_news.tell()

    def _says(self, inode: int, text: str) -> None:
        """Record the new text of a control file that `tells`, and wake the actors that poll this file."""
        self._told[inode] = text
        self.news.changed(inode)

    def _remove_files(self, group: Group, names: Iterable[str]) -> None:
        gone = list(names)
        for name in gone:
            inode = group.files.pop(name)
            del self.files[inode]
            if self._told.pop(inode, None) is not None:
                self.news.gone(inode)
        self.real.remove(group.path[1:], gone)

    def refresh(self, inode: int, was_emptied: bool = False) -> bool:
        """Write the current text of a control file into the real file; return whether that has changed the file.

        Raises RefusedError if the control file has been removed.
        """
        if inode not in self.files:
            raise RefusedError(errno.ENODEV)
        group, file = self.files[inode]
        if file.read is None:
            return False
        text = file.read(self, group)
        if file.tells and self._told.get(inode) == text and not was_emptied:
            return False
        self.real.put(f"{group.path[1:]}/{file.name}", text)
        if file.tells and self._told.get(inode) != text:
            self._says(inode, text)
        return True

    def keep(self, group: Group, name: str) -> None:
        """Rewrite a control file that `is_kept` and whose text may have changed, if the cgroup has that file."""
        if (inode := group.files.get(name)) is not None:
            self.refresh(inode)

    def tell(self, group: Group, name: str) -> None:
        """Rewrite a control file whose text may have changed, if the cgroup has it, and wake the actors that poll it."""
        inode = group.files.get(name)
        if inode is not None and self.refresh(inode):
            self.controlled.on_news.tell()

    def tell_up(self, group: Group, name: str) -> None:
        """Rewrite a control file whose text may have changed, in a cgroup and in the groups above it."""
        for above in group.up():
            self.tell(above, name)

    # Processes

    def group_of(self, process: Process) -> Group:
        """Return the cgroup that a process is in."""
        return group_of(process) or self.root

    def processes(self, group: Group) -> list[Process]:
        """Return the processes that are in a cgroup itself, without those in the groups below."""
        if group is not self.root:
            return list(group.processes.values())
        return [process for process in self.host.processes.values() if process.cgroup is None and not process.dead]

    def enter(self, process: Process, group: Group) -> None:
        """Put a process, which must be in the root cgroup, into another group."""
        if group is not self.root:
            self._join(process, group)
            self._populate(group, 1)

    def leave(self, process: Process) -> None:
        """Take a process out of its cgroup: a live one is in the root group then, a dead one in no group."""
        group = group_of(process)
        if group is not None:
            self._part(process, group)
            self._populate(group, -1)

    def move(self, process: Process, group: Group) -> None:
        """Move a process to another cgroup.

        As on Linux (css_set_move_task), the process is counted in the destination before it leaves the source. So a
        group above both is never empty in between, and its cgroup.events does not change.
        """
        source = self.group_of(process)
        if source is group:
            return
        if group is not self.root:
            self._populate(group, 1)
        if source is not self.root:
            self._part(process, source)
        if group is not self.root:
            self._join(process, group)
        if source is not self.root:
            self._populate(source, -1)
        freezer.follow(self, process)
        cpuset.follow(self, process)
        for actor in process.actors:
            self.controlled.cpu.moved(actor)
        self.controlled.notices.tell_cgroup_moves()

    def _join(self, process: Process, group: Group) -> None:
        process.cgroup = group
        cpu.enters(process)
        self.memory.follow(process)
        group.processes[process.number] = process

    @staticmethod
    def _part(process: Process, group: Group) -> None:
        cpu.leaves(group, process)
        process.cgroup, process.memory_due_ns = None, -1
        del group.processes[process.number]

    def _populate(self, group: Group, by: int) -> None:
        """Add `change` (1 or -1) to the number of processes of a cgroup and of those above.

        The first process of a group and the end of its last one change cgroup.events.
        """
        for above in group.up():
            above.populace += by
            if above.populace == max(by, 0):
                self.tell(above, "cgroup.events")

    def kill(self, doomed: list[Process]) -> None:
        """Kill processes with SIGKILL, and wait until all of them are dead."""
        self.controlled.killer.kill(doomed)

    def close(self) -> None:
        """Close the files and forget all groups, because the host's memory is lost."""
        for group in self.groups.values():
            self.controlled.on_removed.tell(group)
        self.real.close()


def owner_of(process: Process) -> tuple[int, int]:
    """Return the user id and the group id, as the server's kernel has them, of files that a process makes."""
    fields = process.status_fields()
    if "Uid" not in fields:
        return os.geteuid(), os.getegid()
    return int(fields["Uid"].split()[3]), int(fields["Gid"].split()[3])
