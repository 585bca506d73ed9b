"""Handles what a process reports of itself: its limit of descriptors, its processors, its memory policy, and warnings."""

from __future__ import annotations

import errno
import re
import resource
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.protocol import FLAG_CONTAINED, Op, WarningKind

if TYPE_CHECKING:
    from rsg_server.cgroups.cgroups import Cgroups
    from rsg_server.diagnosis.disturbances import Disturbances
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu import Cpu

RAISABLE = frozenset(
    {
        resource.RLIMIT_CORE,
        resource.RLIMIT_STACK,
        resource.RLIMIT_MEMLOCK,
        resource.RLIMIT_MSGQUEUE,
        resource.RLIMIT_NPROC,
        resource.RLIMIT_SIGPENDING,
        resource.RLIMIT_CPU,
        resource.RLIMIT_FSIZE,
        resource.RLIMIT_DATA,
        resource.RLIMIT_RSS,
        resource.RLIMIT_AS,
    }
)
_PHRASES = {
    WarningKind.UNKNOWN_SYSCALL: "is not in the table and was refused with ENOSYS, as by an older kernel",
    WarningKind.REFUSED: "was refused",
    WarningKind.ESCAPE: "(not started)",
    WarningKind.FATAL: "",
    WarningKind.REAL: "(this run cannot be repeated to the byte)",
}


def _call(kind: int, text: str) -> str:
    """Return the name under which run.json counts a system call: the number of an unknown call, the name of a refused one.

    An unknown call of a program of 32 bits is named e.g. `i386 11`.
    """
    if kind == WarningKind.UNKNOWN_SYSCALL:
        return text.replace("system call ", "")
    return re.split(r"\W", text, maxsplit=1)[0]


def _thread(actor: Actor, tid: int) -> Actor | None:
    """Return the thread with a number on the actor's host; the number 0 means the actor itself.

    None if there is no such thread.
    """
    if tid == 0:
        return actor
    everybody = (other for process in actor.process.host.processes.values() for other in process.actors)
    return next((other for other in everybody if other.tid == tid and not other.process.dead), None)


class IdentityHandlers:
    """Handles NOFILE, RAISE_LIMIT, WARN, AFFINITY and MEMORY_POLICY.

    `calls_by_warning` counts, for each kind of warning, the system calls that have caused it.
    """

    def __init__(
        self,
        cgroups: Cgroups,
        cpu: Cpu,
        disturbances: Disturbances,
        warn: Callable[[str, str], None],
        calls_by_warning: dict[int, Counter[str]],
        is_strict: bool,
    ) -> None:
        self._cgroups, self._cpu, self._disturbances, self._warn, self._calls_by_warning, self._is_strict = (
            cgroups,
            cpu,
            disturbances,
            warn,
            calls_by_warning,
            is_strict,
        )

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.NOFILE: self.nofile,
                Op.RAISE_LIMIT: self.raise_limit,
                Op.WARN: self.warn,
                Op.AFFINITY: self.affinity,
                Op.MEMORY_POLICY: self.memory_policy,
            }
        )

    def nofile(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Set the limit of descriptors (RLIMIT_NOFILE) that the process and its children see.

        [soft, hard, floor] -> [0]. The shim's own descriptors in the process have numbers from the floor on.
        """
        soft, hard, floor = arguments
        actor.process.nofile = (soft, hard)
        actor.process.descriptor_floor = floor
        return OK

    def raise_limit(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Set a resource limit of a process in the real kernel, for a caller on a contained host, which may not.

        [pid, limit, soft, hard] -> [0 or -EPERM]. Limits by which a process would get priority on this computer are
        refused. For RLIMIT_NOFILE the reply is [0, soft, hard of before], on any host: another process gets the new
        values at its next exec; The argument -1 leaves a value unchanged.
        """
        pid, limit, *values = arguments
        host = actor.process.host
        process = host.processes.get(pid) if pid else actor.process
        if process is None:
            return failed(errno.ESRCH)
        if limit == resource.RLIMIT_NOFILE:
            before = process.nofile
            process.nofile = (values[0], values[1]) if values[0] >= 0 else before
            return Reply((0, *before))
        if not host.flags & FLAG_CONTAINED or limit not in RAISABLE:
            return failed(errno.EPERM)
        try:
            resource.prlimit(process.global_pid, limit, (values[0], values[1]))
        except OSError as error:
            return failed(error.errno or errno.EPERM)
        except ValueError:  # the soft limit is above the hard one, which the kernel has already refused to the caller
            return failed(errno.EINVAL)
        return OK

    def warn(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Show the user a warning, once for each program, with the first host on which it happened.

        [kind, text] -> [0].
        """
        kind, text = arguments
        process = actor.process
        phrase = _PHRASES.get(kind, "")
        line = f"{process.host.name}: {process.program}: {text} {phrase}".rstrip()
        self._warn(line, f"{process.program}: {text} {phrase}")
        counter = self._calls_by_warning.get(kind)
        if counter is not None:
            counter[_call(kind, text)] += 1
        if kind == WarningKind.REAL:
            self._disturbances.note(f"{process.host.name}: {process.program}: {text}")
        elif self._is_strict:
            raise SimunixError(f"stopped by --strict: {line}")
        return OK

    def affinity(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Set the processors on which a thread may run, as a mask with a bit for each; an empty mask changes nothing.

        [tid, mask] -> [0, mask of now].
        """
        tid, wanted = arguments
        thread = _thread(actor, tid)
        if thread is None:
            return failed(errno.ESRCH)
        existing = self._cgroups.cpus(thread.process)
        if wanted:
            chosen = int.from_bytes(wanted, "little") & existing
            if not chosen:
                return failed(errno.EINVAL)
            thread.affinity = thread.wanted_affinity = chosen
            self._cpu.moved(thread)
        return Reply((0, (thread.affinity or existing).to_bytes((actor.process.host.host.cores + 7) // 8, "little")))

    def memory_policy(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Set or read the memory policy of a thread (set_mempolicy(2)); see OP_MEMORY_POLICY in csrc/shared/protocol.h.

        [tid, mode or -1, nodes, nodes as named] -> [0, mode, nodes, nodes as named, NUMA nodes, cores, first CPU].
        """
        tid, mode, nodes, named = arguments
        thread = _thread(actor, tid)
        if thread is None:
            return failed(errno.ESRCH)
        if mode >= 0:
            thread.memory_policy = (mode, nodes, named)
        numa = actor.process.host.host.numa
        first = (thread.affinity & -thread.affinity).bit_length() - 1 if thread.affinity else 0
        return Reply((0, *thread.memory_policy, numa.nodes, numa.cores, first))
