"""Operations of the calling actor: sleep, compute, end; and lines of output in SimGrid's format."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from simunix.rsg._librsg import ffi, lib
from simunix.rsg.activity import Exec
from simunix.rsg.actor import Actor, own
from simunix.rsg.connection import call, number, real
from simunix.rsg.errors import ActorKilled, AssertionError
from simunix.rsg.places import Host
from simunix.rsg.waiting import Activity


def sleep_for(duration: float) -> None:
    """Sleep for `duration` virtual seconds."""
    call(lib.rsg_sleep, float(duration), about=f"sleep for {duration}")


def sleep_until(date: float) -> None:
    """Sleep until a date, in virtual seconds."""
    call(lib.rsg_sleep_until, float(date), about=f"sleep until {date}")


def execute(flops: float, priority: float = 1.0) -> None:
    """Compute `flops` on the actor's host."""
    call(lib.rsg_execute, float(flops), priority, -1.0, about="execute")


def parallel_execute(hosts: Sequence[Host], flops: Sequence[float], sizes: Sequence[float]) -> None:
    """Compute `flops[i]` on host i, and send `sizes[i·n + j]` bytes from host i to host j of n hosts (none if `sizes`
    is empty); all parts progress in proportion.
    """
    call(lib.rsg_parallel, *_task(hosts, flops, sizes), about="parallel_execute")


def parallel_async(hosts: Sequence[Host], flops: Sequence[float], sizes: Sequence[float]) -> Activity:
    """Begin the computation and the transfers of `parallel_execute`, and return the activity."""
    task: Activity = parallel_init(hosts, flops, sizes).start()
    return task


def parallel_init(hosts: Sequence[Host], flops: Sequence[float], sizes: Sequence[float]) -> Activity:
    """Return a parallel task (see `parallel_execute`) that has not begun."""
    return _Task(_task(hosts, flops, sizes))


class _Task(Activity):
    """A parallel task: flops on several hosts, and bytes between the hosts."""

    def __init__(self, arguments: tuple[object, ...]) -> None:
        super().__init__()
        self._arguments = arguments

    def __repr__(self) -> str:
        return f"parallel task {self._number}"

    def _create(self, begins: bool) -> int:
        operation = lib.rsg_parallel_async if begins else lib.rsg_parallel_init
        return number(operation, *self._arguments, about="parallel_async")


def _task(hosts: Sequence[Host], flops: Sequence[float], sizes: Sequence[float]) -> tuple[object, ...]:
    count = len(hosts)
    if len(flops) not in (0, count) or len(sizes) not in (0, count * count):
        raise AssertionError(lib.RSG_BAD_VALUE, f"a parallel task on {count} hosts, {len(flops)} flops, {len(sizes)} sizes")
    bytes_between = ffi.new("double[]", sizes) if sizes else ffi.NULL
    return [host.number for host in hosts], list(flops) or [0.0] * count, bytes_between, count


def exec_init(flops: float) -> Exec:
    """Return an execution on the actor's host that has not begun."""
    return Exec(float(flops))


def exec_async(flops: float) -> Exec:
    """Begin to compute on the actor's host, and return the execution."""
    execution: Exec = exec_init(flops).start()
    return execution


def yield_() -> None:
    """Let the other actors that are due at this date run first."""
    call(lib.rsg_yield)


def get_pid() -> int:
    """Return the number of the calling actor."""
    return Actor.self().pid


def get_ppid() -> int:
    """Return the number of the actor that created the calling actor."""
    return Actor.self().ppid


def get_name() -> str:
    """Return the name of the calling actor."""
    return Actor.self().name


def get_host() -> Host:
    """Return the host of the calling actor."""
    return Host.current()


def set_host(host: Host) -> None:
    """Move the calling actor to another host. The actor's computations and communications move; its sockets and files
    stay.
    """
    call(lib.rsg_migrate, 0, host.number)


def suspend() -> None:
    """Stop the calling actor until another actor resumes it."""
    call(lib.rsg_suspend, 0)


def on_exit(action: Callable[[bool], object]) -> None:
    """Let `action` be called at the end of the actor, with true if the actor has failed or was killed."""
    own.on_exit.append(action)


def exit() -> NoReturn:
    """End the calling actor."""
    raise ActorKilled("exit")


def _say(level: str, text: str) -> None:
    state = ffi.new("struct rsg_actor_state *")
    where = "" if lib.rsg_actor(0, state) else f"{Host.current().name}:{ffi.string(state.name).decode()}:({state.pid}) "
    sys.stderr.write(f"[{where}{real(lib.rsg_clock):f}] [python/{level}] {text}\n")


def info(text: str) -> None:
    """Write a line at level info."""
    _say("INFO", text)


def debug(text: str) -> None:
    """Write nothing, since SimGrid hides debug lines by default."""


def warning(text: str) -> None:
    """Write a line at level warning."""
    _say("WARNING", text)


def error(text: str) -> None:
    """Write a line at level error."""
    _say("ERROR", text)
