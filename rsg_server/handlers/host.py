"""Answers what files of /proc say about a host and its processes. The shim writes the text (csrc/shim/sys/procfs/files.c)."""

from __future__ import annotations

import errno
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from rsg_server._native import lib
from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.process.actor import State
from rsg_server.processor.costs import NO_ROW
from rsg_server.protocol import Op, Storage
from rsg_server.sockets import listing
from rsg_server.sockets.network_namespaces import network_of
from rsg_server.storage.counts import IoCounts

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu import Cpu
    from rsg_server.process.life.births import Births
    from rsg_server.processor.charges import Charges
    from rsg_server.shared.clock import Clock
    from rsg_server.sockets.table import SocketTable
    from rsg_server.storage.disks import Disks
    from rsg_server.storage.run_disk import RunDisk
    from rsg_server.storage.storages import Storages


def _may_run(thread: Actor) -> bool:
    """Return whether /proc shows a thread as running: it has the turn, is ready to get it, or computes on a processor."""
    return thread.state in (State.READY, State.RUNNING) or (thread.parked is not None and thread.parked.computes())


CORES_MAX: Final[int] = lib.SIMUNIX_CORES_TOLD
"""The most cores on which one answer to HOST_CPU reports."""


class StorageHandlers:
    """Handles STORAGE and STORAGE_COUNTS: reads from modelled storages, writes to them, and their counts."""

    def __init__(self, storages: Storages, run_disk: RunDisk, clock: Clock) -> None:
        self._storages, self._run_disk, self._clock = storages, run_disk, clock

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.STORAGE: self.storage,
                Op.STORAGE_COUNTS: self.storage_counts,
            }
        )

    def storage(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Handle a request about a file on a modelled storage, as enum simunix_storage lists them.

        [what, storage, file, offset, bytes, bytes of the file] -> [0, value, capacity, bytes used].

        For STORAGE_ROOM the value is the number of bytes for which there is room (with file 0 all free bytes), or
        -errno; a capacity of -1 means that the storage has none. For other requests the value 1 means that the caller
        must wait, and a negative value is an error. Raises ServerError if the disk that has the run's folder is full.
        """
        what, number, file, offset, size, file_bytes = arguments
        host = actor.process.host.host
        if what == Storage.NO_ROOM:
            self._run_disk.no_room(repr(actor.process), self._clock.now_ns, number > 0)
            return Reply((0, 0))
        if what != Storage.ROOM:
            return Reply(
                (0, self._storages.ask(actor.number, host, what, number, file, offset, size, file_bytes, actor.process.io))
            )
        room = self._storages.room(host, number)
        if file or room is None:
            return Reply((0, self._storages.admit(host, number, size), -1, 0))
        used = room.look()
        return Reply((0, max(0, room.capacity_bytes - used), room.capacity_bytes, used))

    def storage_counts(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Return what a process has read from storages and written to them, as /proc/PID/io shows it (proc(5)).

        [pid] -> [0, bytes read, bytes made dirty, bytes that were cut off before they were written].
        """
        process = actor.process.host.processes.get(arguments[0])
        counts = IoCounts() if process is None else process.io
        return Reply((0, counts.read_bytes, counts.write_bytes, counts.cancelled_write_bytes))


class HostHandlers:
    """Handles HOST and other questions about a host: its processes, its sockets, their CPU time, what its disks have done."""

    def __init__(self, births: Births, cpu: Cpu, charges: Charges | None, sockets: SocketTable, disks: Disks) -> None:
        self._births, self._cpu, self._charges, self._sockets, self._disks = births, cpu, charges, sockets, disks

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.HOST: self.host,
                Op.HOST_CPU: self.host_cpu,
                Op.BORN: self.born,
                Op.FILTERS: self.filters,
                Op.CHILD_TIME: self.child_time,
                Op.COST_ROW: self.cost_row,
                Op.SOCKETS: self.sockets,
            }
        )

    def host(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Return numbers about the sender's host.

        [] -> [0, threads, processes born so far, latest pid, seed, bytes of disk, virtual ns of its boot].
        """
        state = actor.process.host
        threads = sum(len(process.actors) for process in state.processes.values())
        seed = self._births.seed_of_host(state.name)
        return Reply((0, threads, state.births, state.latest_pid, seed, state.host.disk_bytes, state.booted_ns))

    def born(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Return when a process or thread was born, its CPU time, and whether it can run.

        [pid or tid] -> [0, birth, CPU time, that of its dead children, 1 if it can run, mode and number of its seccomp
        filters]. Times are virtual ns. A process counts as able to run if its main thread is. The reply is -ESRCH if
        there is no such process or thread.
        """
        state, number = actor.process.host, arguments[0]
        process = state.processes.get(number)
        threads = (other for known in state.processes.values() for other in known.actors)
        thread = next((other for other in threads if other.tid == number > 0), None)
        may_run = int(thread is not None and _may_run(thread))
        if process is not None:
            return Reply((0, process.born_ns, process.cpu_ns, process.children_cpu_ns, may_run, *process.filters))
        return (
            failed(errno.ESRCH)
            if thread is None
            else Reply((0, thread.born_ns, thread.cpu_ns, 0, may_run, *thread.process.filters))
        )

    def filters(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Note the filters of system calls that the process has set for itself (seccomp(2)).

        [mode, number of filters] -> [0].
        """
        mode, count = arguments
        actor.process.filters = (mode, count)
        return OK

    def child_time(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Return the CPU time (ns) that a dead child and its own children were charged; for pid 0, that of all children.

        [pid] -> [0, ns].
        """
        process, pid = actor.process, arguments[0]
        return Reply((0, process.dead_children_ns.pop(pid, 0) if pid else process.children_cpu_ns))

    def host_cpu(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Return how busy the processors of the sender's host are.

        [first core] -> [0, load averages of 1, 5 and 15 minutes in units of 2^-11, executions, busy ns of all cores
        together, busy ns of each core from the first one on].
        """
        if self._charges is None:
            return failed(errno.ENOSYS)
        use, running = self._cpu.use(actor.process.host.host)
        busy_ns, first = use.load.busy_ns(), arguments[0]
        some = busy_ns[first : first + CORES_MAX] if first >= 0 else []
        return Reply((0, *use.load.averages, running, sum(busy_ns), struct.pack(f"={len(some)}q", *some)))

    def sockets(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Return lines of a file such as /proc/net/tcp, from a given line on.

        [name, first line] -> [0, lines], which are b"" behind the last line. The name `diskstats` means
        /proc/diskstats, and `block/NAME` means /sys/block/NAME/stat.
        """
        name, first = arguments
        host, disks = actor.process.host.host, self._disks
        if name == b"diskstats":
            text = disks.diskstats(host) if first == 0 else ""
            return Reply((0, text.encode()))
        if name.startswith(b"block/"):
            text = disks.stat(host, name.removeprefix(b"block/").decode(errors="replace")) if first == 0 else ""
            return Reply((0, text.encode()))
        lines = listing.lines(self._sockets.all.values(), actor.process, network_of(actor), name.decode(errors="replace"))
        return failed(errno.EINVAL) if lines is None or first < 0 else Reply((0, listing.piece(lines, first)))

    def cost_row(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Return the row of the sender's thread in the table of learned costs of system calls.

        [name of the thread] -> [0, row; -1 if there is none].
        """
        charges, process = self._charges, actor.process
        if charges is None:
            return Reply((0, NO_ROW))
        policy = charges.policy_of(process.program, process.cpu_policy, process.host.name)
        return Reply((0, charges.table.row(process.program, charges.has_prices(policy), arguments[0].decode(errors="replace"))))
