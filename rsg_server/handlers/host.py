"""Answers what files of /proc say of a host and its processes; the shim writes the text (csrc/shim/sys/procfs/files.c)."""

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
    """Whether a thread has the turn, or would run if it got the turn or a processor."""
    return thread.state in (State.READY, State.RUNNING) or (thread.parked is not None and thread.parked.computes())


CORES_MAX: Final[int] = lib.SIMUNIX_CORES_TOLD
"""The number of cores that one answer to HOST_CPU reports on."""


class StorageHandlers:
    """Handles STORAGE and STORAGE_COUNTS: what a host reads from modelled storages and writes to them."""

    def __init__(self, storages: Storages, run_disk: RunDisk, clock: Clock) -> None:
        self._storages, self._run_disk, self._clock = storages, run_disk, clock

    def table(self) -> dict[int, Handler]:
        """Return the handlers, by operation."""
        return handled(
            {
                Op.STORAGE: self.storage,
                Op.STORAGE_COUNTS: self.storage_counts,
            }
        )

    def storage(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[what, storage, file, offset, bytes, bytes of the file] -> [0, value, capacity, bytes used]: enum simunix_storage.

        For STORAGE_ROOM the value is the number of bytes for which there is room (with file 0 all free bytes), or -errno; a
        capacity of -1 means that the storage has none. For other requests the value 1 means that the caller must wait, and
        a negative value is an error. Raises ServerError if the disk of the run is full.
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
        """[pid] -> [0, bytes read from storages, bytes made dirty, bytes cut off before they were written]; proc(5)."""
        process = actor.process.host.processes.get(arguments[0])
        counts = IoCounts() if process is None else process.io
        return Reply((0, counts.read_bytes, counts.write_bytes, counts.cancelled_write_bytes))


class HostHandlers:
    """Handles HOST and other questions about a host: its processes, its sockets, their CPU time, what its disks have done."""

    def __init__(self, births: Births, cpu: Cpu, charges: Charges | None, sockets: SocketTable, disks: Disks) -> None:
        self._births, self._cpu, self._charges, self._sockets, self._disks = births, cpu, charges, sockets, disks

    def table(self) -> dict[int, Handler]:
        """Return the handlers, by operation."""
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
        """[] -> [0, threads, processes born so far, latest pid, seed, bytes of disk, when it booted], for the sender's host."""
        state = actor.process.host
        threads = sum(len(process.actors) for process in state.processes.values())
        seed = self._births.seed_of_host(state.name)
        return Reply((0, threads, state.births, state.latest_pid, seed, state.host.disk_bytes, state.booted_ns))

    def born(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[pid or tid] -> [0, birth, CPU time, its dead children's, 1 if it may run, seccomp filters: mode and number].

        Times are virtual nanoseconds. A process may run if its main thread may. The reply is -ESRCH if there is no such
        process or thread.
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
        """[mode, how many] -> [0]: note the filters of system calls that the process has set itself (seccomp(2))."""
        mode, count = arguments
        actor.process.filters = (mode, count)
        return OK

    def child_time(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[pid] -> [0, nanoseconds of CPU time that a dead child and its children were charged]; pid 0: the sum over all."""
        process, pid = actor.process, arguments[0]
        return Reply((0, process.dead_children_ns.pop(pid, 0) if pid else process.children_cpu_ns))

    def host_cpu(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[first core] -> [0, load averages of 1, 5, 15 minutes in 2^-11, executions, busy ns of all cores, of each core]."""
        if self._charges is None:
            return failed(errno.ENOSYS)
        use, running = self._cpu.use(actor.process.host.host)
        busy_ns, first = use.load.busy_ns(), arguments[0]
        some = busy_ns[first : first + CORES_MAX] if first >= 0 else []
        return Reply((0, *use.load.averages, running, sum(busy_ns), struct.pack(f"={len(some)}q", *some)))

    def sockets(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[name, first line] -> [0, lines of a file of /proc/net from that one on]; b"" behind the last.

        The lines of /proc/diskstats are read likewise; `block/NAME` is the line of /sys/block/NAME/stat.
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
        """[name of the thread] -> [0, row of the thread in the table of costs]; -1 if it has none."""
        charges, process = self._charges, actor.process
        if charges is None:
            return Reply((0, NO_ROW))
        policy = charges.policy_of(process.program, process.cpu_policy, process.host.name)
        return Reply((0, charges.table.row(process.program, charges.has_prices(policy), arguments[0].decode(errors="replace"))))
