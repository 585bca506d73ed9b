"""The dead whom nobody has waited for yet: a zombie is still a member of its group, and still answers to its number.

Zombies of emulated parents vanish when these call wait(2), in their own turns. All others are for the kernel or for the host's
init to reap, neither of which knows of turns: whoever asked next would meet them or not as it pleases the computer. So a death
lasts until what it leaves to these is gone.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rsg_server.process.process import status_fields

if TYPE_CHECKING:
    from rsg_server.process.host_state import HostState
    from rsg_server.process.needs import Warner
    from rsg_server.process.process import Process

REAPING_TIMEOUT_S = 10.0
_PRUNED_FROM = 32


@dataclass(frozen=True, slots=True)
class Zombie:
    """A dead process, by the server's number and by the innermost of its PID namespaces' own."""

    global_pid: int
    pid: int

    def status(self) -> dict[str, str]:
        """Empty once it is gone, even if its number is another's now."""
        fields = status_fields(self.global_pid)
        is_it = fields.get("State", "")[:1] in ("Z", "X") and fields.get("NSpid", "").split()[-1:] == [str(self.pid)]
        return fields if is_it else {}


def reap(kernel: Warner, process: Process) -> None:
    """Wait until those of a dead process and its dead children are gone whose parent is none of ours; the others stay its."""
    own = [Zombie(process.global_pid, process.pid)] if process.pid else []
    for zombie in (*own, *process.zombies):
        parent = _await_reaping(kernel, process.host, zombie)
        if parent is not None:
            parent.zombies.append(zombie)
            _prune(parent)
    process.zombies = []


def _await_reaping(kernel: Warner, host: HostState, zombie: Zombie) -> Process | None:
    """The emulated process that is to wait for it; None once it is gone."""
    end = 0.0
    while status := zombie.status():
        parent_pid = int(status["PPid"]) if status["State"][0] == "Z" else -1
        for other in host.processes.values():
            if other.global_pid == parent_pid and not other.dead:
                return other
        if status["TracerPid"] != "0":  # a debugger's to see first
            return None
        end = end or time.monotonic() + REAPING_TIMEOUT_S
        if time.monotonic() > end:
            kernel.warn(f"process {zombie.pid} of {host.name} has died, but is not reaped", about="not reaped")
            return None
        os.sched_yield()
    return None


def _prune(parent: Process) -> None:
    """Forget those that it has waited for: whenever their number is a power of two, for it may have thousands."""
    count = len(parent.zombies)
    if count >= _PRUNED_FROM and count & count - 1 == 0:
        parent.zombies = [zombie for zombie in parent.zombies if zombie.status()]
