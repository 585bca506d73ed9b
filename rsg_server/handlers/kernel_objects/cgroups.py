"""Handles messages about cgroups (csrc/shim/sys/cgroup): their folders, their control files, the processes in them."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.cgroups.control_file import RefusedError, Request
from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.protocol import CGROUP_READ_EMPTIED, Op

if TYPE_CHECKING:
    from rsg_server.cgroups.cgroups import Cgroups
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process


def _refused(error: RefusedError | OSError) -> Reply:
    """Return the reply with the errno of a refusal, or of a real file that cannot be made or written (a full file system)."""
    return failed(error.number if isinstance(error, RefusedError) else error.errno or errno.EIO)


def _process(actor: Actor, number: int) -> Process | None:
    if number == 0:
        return actor.process
    processes = actor.process.host.processes
    if number in processes:
        return processes[number]
    return next((process for process in processes.values() if any(each.tid == number for each in process.actors)), None)


class CgroupHandlers:
    """Handles CGROUP_READ, CGROUP_WRITE and the other messages about cgroups."""

    def __init__(self, cgroups: Cgroups, make_ready: Callable[[Actor], None]) -> None:
        self._cgroups, self._make_ready = cgroups, make_ready

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.CGROUP_READ: self.read,
                Op.CGROUP_WRITE: self.write,
                Op.CGROUP_MADE: self.made,
                Op.CGROUP_REMOVE: self.remove,
                Op.CGROUP_OF: self.path_of,
                Op.CGROUP_INTO: self.into,
                Op.CGROUP_GREW: self.grew,
                Op.CGROUP_NEWS: self.news,
                Op.CGROUP_APPEAR: self.appear,
            }
        )

    def read(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Write the present text into a control file that the caller is about to read.

        [inode, a value of enum simunix_cgroup_read] -> [0].
        """
        inode, how = arguments
        try:
            hierarchy = self._cgroups.of(actor.process.host)
            hierarchy.refresh(inode, how == CGROUP_READ_EMPTIED)
            hierarchy.news.reads(actor.process, inode, how)
        except (RefusedError, OSError) as error:
            return _refused(error)
        return OK

    def news(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Say whether a control file has changed since the caller's process read it, for poll(2); a later change wakes
        the caller.

        [inode, 1 if nothing was read since the beginning] -> [1 if the file has changed, else 0].
        """
        inode, is_unread = arguments
        try:
            hierarchy = self._cgroups.of(actor.process.host)
        except RefusedError as error:
            return _refused(error)
        return Reply((int(hierarchy.news.are_there(actor, inode, bool(is_unread))),))

    def write(self, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
        """Handle a program's write to a control file.

        [inode, bytes, user id] -> [0]. A writer that has killed itself gets no reply. A writer that has frozen itself
        gets the reply when it is thawed.
        """
        inode, content, user = arguments
        process = actor.process
        try:
            hierarchy = self._cgroups.of(process.host)
            if inode not in hierarchy.files:
                return failed(errno.ENODEV)
            group, file = hierarchy.files[inode]
            if file.write is None:
                return failed(errno.EINVAL)
            text = content.partition(b"\0")[0].decode(errors="replace")
            file.write(Request(hierarchy, group, text, process, user))
        except (RefusedError, OSError) as error:
            return _refused(error)
        if process.dead:
            return None
        values = (0, int(self._cgroups.counts_memory(process)))
        if not process.is_held:
            return Reply(values)
        actor.reply = values
        self._make_ready(actor)
        return None

    def made(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Note that a program has made a folder, which becomes a cgroup.

        [inode of the folder above, inode, name] -> [0].
        """
        above, inode, name = arguments
        try:
            self._cgroups.of(actor.process.host).make(above, inode, name.decode(errors="surrogateescape"))
        except (RefusedError, OSError) as error:
            return _refused(error)
        return OK

    def remove(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Remove a cgroup: its folder and its control files.

        [inode] -> [0].
        """
        try:
            self._cgroups.of(actor.process.host).remove(arguments[0])
        except (RefusedError, OSError) as error:
            return _refused(error)
        return OK

    def appear(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Make a control file that the group of a folder may have; with an empty name, all such files.

        [inode of the folder, name] -> [0].
        """
        inode, name = arguments
        try:
            self._cgroups.of(actor.process.host).appear(inode, name.decode(errors="surrogateescape"))
        except (RefusedError, OSError) as error:
            return _refused(error)
        return OK

    def path_of(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Return the path of the cgroup of a process.

        [pid or tid] -> [0, path]. A process that is not emulated, such as the init of a host, is in the root group.
        """
        process = _process(actor, arguments[0])
        path = "/" if process is None else self._cgroups.path_of(process)
        return Reply((0, path.encode(errors="surrogateescape")))

    def into(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Choose the cgroup into which the caller's next child is born (CLONE_INTO_CGROUP).

        [inode] -> [0].
        """
        try:
            self._cgroups.next_child_into(actor, self._cgroups.group_by_inode(actor.process.host, arguments[0]))
        except (RefusedError, OSError) as error:
            return _refused(error)
        return OK

    def grew(self, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
        """Count the memory of a process that has grown.

        [] -> [0, bytes by which the process may grow until it must ask again].
        """
        process = actor.process
        self._cgroups.count_memory(process)
        return None if process.dead else Reply((0, self._cgroups.memory.step(process)))
