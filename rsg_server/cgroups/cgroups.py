"""Keeps the cgroups of all hosts. A host's groups are found at its first program's HELLO and lost when its power is cut."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from rsg_server.cgroups import core_files, cpu, cpuset, io, memory_files, pids
from rsg_server.cgroups.control_file import ControlFile, RefusedError
from rsg_server.cgroups.controlled import Controlled
from rsg_server.cgroups.group import Group, group_of
from rsg_server.cgroups.hierarchy import Hierarchy
from rsg_server.cgroups.memory import Memory
from rsg_server.cgroups.real_files import RealFiles
from rsg_server.errors import SimunixError
from rsg_server.process.actor import Actor
from rsg_server.process.host_state import HostState, Launcher
from rsg_server.process.process import Process
from rsg_server.processor.accounts import Account
from rsg_server.protocol import CGROUP_DEVICE_SHIFT, CGROUPS_COUNT_MEMORY, CGROUPS_USED
from rsg_server.storage.accounts import Account as StorageAccount

FILES: dict[str, ControlFile] = {
    file.name: file for module in (core_files, cpu, cpuset, io, memory_files, pids) for file in module.FILES
}
ROOT_FILES = {name: file.mode for name, file in FILES.items() if True in file.where}
"""The control files of a host's root cgroup: the mode of each, by its name."""


class Cgroups:
    """The trees of cgroups of all hosts, by the name of the host."""

    def __init__(self, launcher: Launcher, actors: Mapping[int, Actor], controlled: Controlled, memory: Memory) -> None:
        self._launcher, self._actors, self._controlled = launcher, actors, controlled
        self._of: dict[str, Hierarchy] = {}
        self._for_child: dict[int, Group] = {}  # the group into which an actor's next child is born, by the actor's number
        self.memory = memory

    def told(self, process: Process) -> int:
        """Return the number by which the reply to HELLO tells a new program about its host's cgroups; 0 if the host has
        none.
        """
        host = process.host
        if host.cgroup_device < 0:
            host.cgroup_device = self._device(host)
        if not host.cgroup_device:
            return 0
        flags = (CGROUPS_USED if host.name in self._of else 0) | (CGROUPS_COUNT_MEMORY if self.counts_memory(process) else 0)
        return host.cgroup_device << CGROUP_DEVICE_SHIFT | flags

    def counts_memory(self, process: Process) -> bool:
        """Return whether a process is in a cgroup whose memory is counted, since it or a group above it has a limit."""
        group = group_of(process)
        return group is not None and self.memory.is_counted(group)

    def count_memory(self, process: Process, is_due: bool = True) -> None:
        """Count the memory of the cgroups of a process: at once if `is_due`, else only if the last count is old enough.

        A process whose group has exceeded its limit may be dead afterwards.
        """
        if process.memory_due_ns >= 0 and process.cgroup is not None:
            (self.memory.check if is_due else self.memory.look)(self._of[process.host.name], process)

    def _folder(self, host: HostState) -> int:
        return self._launcher.cgroups(host.name)

    def _device(self, host: HostState) -> int:
        try:
            folder = self._folder(host)
        except SimunixError:
            return 0
        try:
            return os.fstat(folder).st_dev
        finally:
            os.close(folder)

    def of(self, host: HostState) -> Hierarchy:
        """Return the tree of cgroups of a host; the first call for a host makes the tree.

        Raises RefusedError if the host can have no groups.
        """
        hierarchy = self._of.get(host.name)
        if hierarchy is None:
            try:
                real = RealFiles(self._folder(host))
            except SimunixError:
                raise RefusedError(errno.ENODEV) from None
            hierarchy = self._of[host.name] = Hierarchy(self._controlled, host, real, FILES, self.memory)
            self._controlled.storages.users.account_of = self._storage_account
        return hierarchy

    def _storage_account(self, number: int) -> StorageAccount | None:
        """Return the account (of a cgroup) that an actor's reads and writes at storages are counted to; None for the
        root group.
        """
        process = self._actors[number].process
        group = group_of(process)
        return None if group is None else io.account_of(self._of[process.host.name], group)

    def path_of(self, process: Process) -> str:
        """Return the path of a process's group as /proc/PID/cgroup shows it."""
        group = group_of(process)
        return "/" if group is None else group.path

    def group_by_inode(self, host: HostState, inode: int) -> Group:
        """Return the cgroup of a folder. Raises RefusedError if the folder is no group, or no process may be in the group."""
        hierarchy = self.of(host)
        group = hierarchy.groups.get(inode)
        if group is None:
            raise RefusedError(errno.ENODEV)
        core_files.check_destination(group)
        return group

    # Births and deaths of processes

    def next_child_into(self, actor: Actor, group: Group) -> None:
        """Note the cgroup into which an actor's next child is to be born (clone3(2), CLONE_INTO_CGROUP)."""
        self._for_child[actor.number] = group

    def may_bear(self, creator: Actor, is_thread: bool) -> bool:
        """Return whether an actor may create one more process or thread under the limits of its cgroups (pids.max)."""
        hierarchy = self._of.get(creator.process.host.name)
        if hierarchy is None:
            return True
        group = hierarchy.group_of(creator.process) if is_thread else self._for_child.get(creator.number)
        if pids.may_be_born(hierarchy, group or hierarchy.group_of(creator.process)):
            return True
        self._for_child.pop(creator.number, None)
        return False

    def born(self, creator: Actor, process: Process) -> None:
        """Put a new process into the cgroup of its creator, or into the cgroup that the creator has chosen
        (CLONE_INTO_CGROUP).
        """
        hierarchy = self._of.get(creator.process.host.name)
        if hierarchy is None:
            return
        named = self._for_child.pop(creator.number, None)
        hierarchy.enter(process, named or hierarchy.group_of(creator.process))
        if named is not None:
            cpuset.follow(hierarchy, process)
            self._controlled.notices.tell_cgroup_moves()

    def died(self, process: Process) -> None:
        """Remove a dead process from its cgroup."""
        if process.cgroup is not None:
            self._of[process.host.name].leave(process)

    def cpus(self, process: Process) -> int:
        """Return the mask of the processors that a process may use."""
        if process.cgroup is None:
            return (1 << process.host.host.cores) - 1
        hierarchy = self._of[process.host.name]
        return cpuset.effective(hierarchy, hierarchy.group_of(process))

    def lost(self, host: HostState) -> None:
        """Close the tree of groups of a host whose power is cut, once all of its processes are dead."""
        host.cgroup_device = -1
        if (hierarchy := self._of.pop(host.name, None)) is not None:
            for process in list(hierarchy.root.members()):
                hierarchy.leave(process)
            hierarchy.close()

    def close(self) -> None:
        """Close all descriptors of the hosts' folders of cgroups."""
        while self._of:
            self._of.popitem()[1].close()


def account_of(process: Process) -> Account | None:
    """Return the account that a process's CPU time is counted to: that of its cgroup; None for the root group."""
    group = group_of(process)
    return None if group is None else cpu.account_of(group)
