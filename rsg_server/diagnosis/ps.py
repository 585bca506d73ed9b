"""Collects what `simunix ps` shows: all processes of an emulation and their threads, as plain values (dicts, lists,
numbers).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from rsg_server.diagnosis.descriptors import Descriptors
from rsg_server.diagnosis.stalls import command_line
from rsg_server.process.actor import State
from rsg_server.protocol import syscall_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process


def thread_values(actor: Actor, descriptors: Descriptors) -> dict[str, Any]:
    """Return what `simunix ps` shows of a thread: tid and state; for a waiting one the call, what it waits for, since
    and until when.

    Moments are in virtual time.
    """
    values: dict[str, Any] = {"tid": actor.tid, "state": actor.state.value, "call": None, "waits_for": None}
    values |= {"since_s": None, "until_s": None}
    parked = actor.parked
    if actor.process.stopped:
        values["state"] = "stopped"
    elif actor.process.frozen:
        values["state"] = "frozen"
    if actor.state is State.PARKED and parked is not None:
        values["call"] = syscall_name(parked.syscall)
        values["waits_for"] = parked.describe(actor, descriptors)
        values["since_s"] = parked.since_ns / 1e9
        values["until_s"] = parked.deadline_ns / 1e9 if parked.deadline_ns >= 0 else None
    return values


def process_values(process: Process, descriptors: Descriptors) -> dict[str, Any]:
    """Return what `simunix ps` shows of a process, with its threads in the order of their birth."""
    return {
        "host": process.host.name,
        "pid": process.pid,
        "native_pid": process.global_pid,  # the real pid, for tools that run outside of the emulation: gdb, perf, strace
        "program": os.path.basename(process.program),
        "command": command_line(process),
        "born_s": process.born_ns / 1e9,
        "threads": [thread_values(actor, descriptors) for actor in process.actors],
    }


def list_processes(hosts: Iterable[str], processes: Mapping[int, Process], descriptors: Descriptors) -> list[dict[str, Any]]:
    """Return all processes for `simunix ps`: by host in the platform's order, then in the order of their birth."""
    order = {name: place for place, name in enumerate(hosts)}
    in_order = sorted(processes.values(), key=lambda process: (order[process.host.name], process.number))
    return [process_values(process, descriptors) for process in in_order]
