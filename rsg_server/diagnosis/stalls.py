"""Writes the reports for a run that does not move.

A deadlock report has one line for each actor (thread). A stall report describes the actor that has the turn and does
not give it back.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from rsg_server.diagnosis.descriptors import Descriptors
from rsg_server.process import native_signal
from rsg_server.process.actor import Actor, State
from rsg_server.process.procfs import epoll_targets, mapping_of
from rsg_server.protocol import syscall_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rsg_server.process.cpu_timers import CpuTimers
    from rsg_server.process.process import Process

_COMMAND_SHOWN = 60
_DESCRIPTOR_FIRST = """
    read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 ioctl fcntl flock fallocate getdents getdents64
    mq_timedsend mq_timedreceive recvfrom sendto recvmsg sendmsg accept accept4 connect vmsplice splice tee copy_file_range
"""
_FIRST_IS_DESCRIPTOR = frozenset(_DESCRIPTOR_FIRST.split())
"""System calls whose first argument is a descriptor."""


def seconds(moment_ns: int) -> str:
    """Return a moment of virtual time as text in seconds, e.g. `12.500000 s`."""
    return f"{moment_ns / 1e9:.6f} s"


def command_line(process: Process) -> str:
    """Return the arguments of a process as one line; if /proc shows none, the name of its program."""
    with contextlib.suppress(OSError), open(f"/proc/{process.global_pid}/cmdline", "rb") as file:
        words = file.read().rstrip(b"\0").split(b"\0")
        if any(words):
            return b" ".join(words).decode(errors="replace").replace("\n", " ")
    return process.program


def process_text(process: Process) -> str:
    """Return a process as text, e.g. `node1: sleep[12] (sleep 100)`: host, program, pid, and its arguments if there are any."""
    program = os.path.basename(process.program) or "?"
    first, space, rest = command_line(process).partition(" ")
    command = os.path.basename(first) + space + rest  # the program without its folder, which is long and tells little
    if len(command) > _COMMAND_SHOWN:
        command = command[: _COMMAND_SHOWN - 1] + "…"
    shown = "" if command == program else f" ({command})"
    return f"{process.host.name}: {program}[{process.pid}]{shown}"


def actor_line(actor: Actor, descriptors: Descriptors) -> str:
    """Return a line about an actor: host, process, thread, system call, what the actor waits for, until when, and since
    when.
    """
    where = f"{process_text(actor.process)} thread {actor.tid}"
    if actor.process.stopped:
        return f"{where} is stopped by a signal"
    if actor.process.frozen:
        return f"{where} is frozen by its cgroup {actor.process.cgroup}"
    parked = actor.parked
    if actor.state is not State.PARKED or parked is None:
        return f"{where} is {actor.state.value}"
    until = "" if parked.deadline_ns < 0 else f" until {seconds(parked.deadline_ns)}"
    call = syscall_name(parked.syscall)
    return f"{where} in {call} waits for {parked.describe(actor, descriptors)}{until} since {seconds(parked.since_ns)}"


def actor_lines(actors: Mapping[int, Actor], descriptors: Descriptors) -> list[str]:
    """Return a line for each actor, in the order of their birth."""
    return [actor_line(actor, descriptors) for actor in actors.values()]


def deadlock_report(now_ns: int, actors: Mapping[int, Actor], descriptors: Descriptors) -> str:
    """Return the report of a deadlock, in which virtual time cannot move: a line for each actor, in the order of their
    birth.
    """
    head = f"virtual time stopped at {seconds(now_ns)}: nobody can run and nothing is due"
    return "\n".join([head, *("  " + line for line in actor_lines(actors, descriptors))])


def stall_report(now_ns: int, cpu_timers: CpuTimers, descriptors: Descriptors, actor: Actor, waited_s: float) -> str:
    """Return the report about an actor that does not give the turn back: who it is, and what /proc shows of its thread."""
    process = actor.process
    thread = native_signal.global_tid(process.global_pid, actor.tid, process.host.level) or process.global_pid
    folder = f"/proc/{process.global_pid}/task/{thread}"
    lines = [
        f"the turn has not come back for {waited_s:.0f} s of wall time: {process_text(process)} thread {actor.tid}"
        f" at {seconds(now_ns)}",
        f"  state: {_state(folder)}",
        f"  call: {_call(cpu_timers, descriptors, process, _read(folder, 'syscall'))}",
    ]
    for name in ("wchan", "stack"):
        text = _read(folder, name)
        if text not in ("", "0"):
            lines.append(f"  {name}: {text}")
    # Only root's gdb may enter the mount namespace of the host, which it must do to read the program there.
    root = "" if os.geteuid() == 0 else f" -iex 'set sysroot /proc/{process.global_pid}/root'"
    lines.append(f"  its own stack: gdb -p {process.global_pid}{root} -batch -ex 'thread apply all backtrace'")
    return "\n".join(lines)


def _read(folder: str, name: str) -> str:
    with contextlib.suppress(OSError), open(f"{folder}/{name}") as file:
        return " ".join(file.read().split())
    return ""


def _state(folder: str) -> str:
    with contextlib.suppress(OSError), open(f"{folder}/status") as file:
        for line in file:
            if line.startswith("State:"):
                return line.partition(":")[2].strip()
    return "gone"


def _call(cpu_timers: CpuTimers, descriptors: Descriptors, process: Process, text: str) -> str:
    """Return the text of /proc/PID/task/TID/syscall in words: the call, its arguments and, if the first is a
    descriptor, what is open.
    """
    words = text.split()
    if not words or words[0] == "running":
        passes = "which passes at its next call" if cpu_timers.counts(process) else "which takes no virtual time"
        return f"none: it computes, {passes}" if words else "not readable"
    address = int(words[-1], 16)
    at = f" at {mapping_of(process, address) or hex(address)}"
    if len(words) < 9:  # the thread is blocked outside of a system call: "-1 SP PC"
        return f"none{at}"
    name = syscall_name(int(words[0]))
    shown = f"{name}({', '.join(words[1:7])}){at}"
    if name not in _FIRST_IS_DESCRIPTOR:
        return shown
    fd = int(words[1], 16)
    return f"{shown}; descriptor {fd} ({descriptors.describe(process, fd)})"


def waits_for_files(actors: Mapping[int, Actor], files: set[tuple[int, int]]) -> bool:
    """Return whether an actor waits for one of these files (st_dev, st_ino), or for an epoll instance, which may watch one."""
    if not files:
        return False
    inodes = {inode for _, inode in files}
    for actor in actors.values():
        if actor.state is not State.PARKED:
            continue
        for descriptor, inode in epoll_targets(actor.epoll_info()):
            if inode in inodes or _is_epoll(actor, descriptor):
                return True
    return False


def _is_epoll(actor: Actor, fd: int) -> bool:
    try:
        return os.readlink(f"/proc/{actor.process.global_pid}/fd/{fd}") == "anon_inode:[eventpoll]"
    except OSError:
        return False
