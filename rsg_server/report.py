"""What to say when nothing moves: one line per actor for a deadlock, the culprit's state for a stall."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from rsg_server.actor import Actor, State

if TYPE_CHECKING:
    from rsg_server.kernel import Kernel


def seconds(moment_ns: int) -> str:
    """A moment of virtual time with microseconds, e.g. `12.500000 s`."""
    return f"{moment_ns / 1e9:.6f} s"


def actor_line(actor: Actor) -> str:
    """Host, process, thread, what it waits for and since when."""
    process = actor.process
    where = f"{process.host.name}: {process.program or '?'}[{process.pid}] thread {actor.tid}"
    if process.stopped:
        return f"{where} is stopped by a signal"
    parked = actor.parked
    if actor.state is not State.PARKED or parked is None:
        return f"{where} is {actor.state.value}"
    until = "" if parked.deadline_ns < 0 else f" until {seconds(parked.deadline_ns)}"
    return f"{where} waits for {describe(actor)}{until} since {seconds(parked.since_ns)}"


def describe(actor: Actor) -> str:
    """What a parked actor waits for; a descriptor with what the kernel says is behind it."""
    parked = actor.parked
    assert parked is not None
    text = parked.describe()
    with contextlib.suppress(OSError):
        if text.startswith("descriptor"):
            target = os.readlink(f"/proc/{actor.process.global_pid}/fd/{parked.a}")
            return f"{text} ({target})"
    return text


def deadlock_report(kernel: Kernel) -> str:
    """Virtual time cannot move: everybody, in the order of birth."""
    head = f"virtual time stopped at {seconds(kernel.now_ns)}: nobody can run and nothing is due"
    return "\n".join([head, *("  " + actor_line(actor) for actor in kernel.actors.values())])


def stall_report(kernel: Kernel, actor: Actor, waited_s: float) -> str:
    """A turn that does not come back: who has it, and what the kernel says that thread is doing."""
    process = actor.process
    state = process.status_fields().get("State", "gone")
    lines = [
        f"the turn has not come back for {waited_s:.0f} s of wall time: {process.host.name}: {process.program}"
        f"[{process.pid}] thread {actor.tid} at {seconds(kernel.now_ns)}, state {state}"
    ]
    for name in ("wchan", "syscall", "stack"):
        with contextlib.suppress(OSError), open(f"/proc/{process.global_pid}/{name}") as file:
            lines.append(f"  {name}: {' '.join(file.read().split())}")
    return "\n".join(lines)


def waits_outside(kernel: Kernel, files: set[tuple[int, int]]) -> bool:
    """Whether somebody waits for one of these files (device, inode), or for an epoll, which may hide one."""
    if not files:
        return False
    inodes = {inode for _, inode in files}
    for actor in kernel.actors.values():
        if actor.epoll_fd < 0 or actor.state is not State.PARKED:
            continue
        with open(f"/proc/self/fdinfo/{actor.epoll_fd}") as lines:
            waited = [line for line in lines if line.startswith("tfd:")]
        for line in waited:
            inode = int(line.partition("ino:")[2].split()[0], 16)
            if inode in inodes or _is_epoll(actor, int(line.split()[1])):
                return True
    return False


def _is_epoll(actor: Actor, fd: int) -> bool:
    try:
        return os.readlink(f"/proc/{actor.process.global_pid}/fd/{fd}") == "anon_inode:[eventpoll]"
    except OSError:
        return False
