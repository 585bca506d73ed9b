"""Zombies: dead processes for which no parent has waited. A zombie still has its pid, and is a member of its process group.

A zombie with an emulated parent vanishes when the parent calls wait(2), in the parent's turn. All other zombies are
removed by the kernel or by the host's init, neither of which has turns: how long other processes see such a zombie
would depend on the load of the computer. So the server lets no actor run before the zombies that the kernel or init
must remove are gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rsg_server._native import lib
from rsg_server.process.process import number_at_level, status_fields

if TYPE_CHECKING:
    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process
    from rsg_server.warner import Warner

REAPING_TIMEOUT_S = 10.0
"""How long (real seconds) the kernel or init may take to remove a zombie before the user is warned."""
STOPPED_S = 0.5
"""After so many real seconds, the server assumes that somebody has stopped init (SIGSTOP)."""
_PRUNED_FROM = 32
_STAT_MAX = 512


@dataclass(frozen=True, slots=True)
class Zombie:
    """A dead process, given by its number in the server's PID namespace and its number in its host's.

    The host's namespace is `level` levels below the server's.
    """

    global_pid: int
    pid: int
    level: int = 1

    def status(self) -> dict[str, str]:
        """Return the fields of /proc/PID/status; {} when the zombie is gone, even if another process has its number by then."""
        fields = status_fields(self.global_pid)
        is_dead = fields.get("State", "")[:1] in ("Z", "X")
        return fields if is_dead and number_at_level(fields.get("NSpid", ""), self.level) == self.pid else {}

    def may_exist(self) -> bool:
        """Return whether any process has the zombie's number. This takes one system call, whereas `status` reads a file."""
        try:
            os.kill(self.global_pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True


def reap(warner: Warner, process: Process) -> None:
    """Wait until a dead process and its dead children are gone, except those for which an emulated parent has to wait(2).

    A zombie with an emulated parent is added to this parent's zombies.
    """
    own = [zombie_of(process)] if process.pid else []
    for zombie in (*own, *process.zombies):
        parent = _keeper(process, zombie) or _await_reaping(warner, process.host, zombie)
        if parent is not None:
            parent.zombies.append(zombie)
            _prune(parent)
    process.zombies = []


def zombie_of(process: Process) -> Zombie:
    """Return the zombie that a dead process has become."""
    return Zombie(process.global_pid, process.pid, process.host.level)


def is_kept(process: Process) -> bool:
    """Return whether an emulated parent has to wait(2) for a process that has died just now."""
    return _keeper(process, zombie_of(process)) is not None


def _keeper(process: Process, zombie: Zombie) -> Process | None:
    """Return the emulated parent that has to wait for a process which has just died; None if only /proc can tell.

    The parent has had no turn since the death, so no process can have waited for the zombie, and the kernel's record of
    the parent is correct.
    """
    parent = process.parent
    if parent is None or parent.dead or zombie.global_pid != process.global_pid:
        return None
    keeper = lib.watch_parent_of_zombie(process.pidfd) if process.pidfd >= 0 else -1
    if keeper < 0:  # Linux before 6.13
        keeper = _parent_of_zombie(zombie.global_pid)
    return parent if keeper == parent.global_pid else None


def _parent_of_zombie(global_pid: int) -> int:
    """Return the pid of a dead process's parent, from /proc/PID/stat, if nobody has waited for the process yet; else 0."""
    try:
        fd = os.open(f"/proc/{global_pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError):
        return 0
    try:
        state, parent_pid, _ = os.read(fd, _STAT_MAX).rpartition(b") ")[2].split(None, 2)
    except (ProcessLookupError, ValueError):
        return 0
    finally:
        os.close(fd)
    return int(parent_pid) if state == b"Z" else 0


def _await_reaping(warner: Warner, host: HostState, zombie: Zombie) -> Process | None:
    """Wait until a zombie is gone, and return None; or return the emulated process that has to wait(2) for it."""
    end = 0.0
    while status := zombie.status():
        parent_pid = int(status["PPid"]) if status["State"][0] == "Z" else -1
        for other in host.processes.values():
            if other.global_pid == parent_pid and not other.dead:
                return other
        if status["TracerPid"] != "0":  # a debugger must notice the death first
            return None
        now = time.monotonic()
        end = end or now + REAPING_TIMEOUT_S
        if now > end - REAPING_TIMEOUT_S + STOPPED_S and parent_pid > 1:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                # the process is for the host's init to wait for, which a user may have stopped
                os.kill(parent_pid, signal.SIGCONT)
        if now > end:
            warner.warn(f"process {zombie.pid} of {host.name} has died, but is not reaped", about="not reaped")
            return None
        os.sched_yield()
    return None


def _prune(parent: Process) -> None:
    """Forget zombies for which a parent has waited.

    There may be thousands of zombies, so the list is searched only when the number of zombies is a power of two.
    """
    count = len(parent.zombies)
    if count >= _PRUNED_FROM and count & count - 1 == 0:
        parent.zombies = [zombie for zombie in parent.zombies if zombie.may_exist()]
