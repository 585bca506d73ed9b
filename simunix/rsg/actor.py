"""Actors: threads of this program, or processes."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simunix.rsg._librsg import ffi, lib
from simunix.rsg.connection import call, connect, number
from simunix.rsg.errors import ActorKilled, AssertionError, check
from simunix.rsg.places import Host

PIDS_TOLD = 512


class Own(threading.local):
    """What the calling thread keeps of itself: what is to be called at its end."""

    def __init__(self) -> None:
        self.on_exit: list[Callable[[bool], object]] = []


own = Own()


@dataclass
class Terms:
    """How an actor ends that is a thread of this program: whether it begins again when its host comes on, when it is killed."""

    restarts: bool = False
    kill_date: float = -1.0


threads: dict[int, Terms] = {}
"""The actors that are threads of this program, by number."""


class Actor:
    """An actor, known by its number."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def __repr__(self) -> str:
        return f"Actor({self.pid})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Actor) and other.pid == self.pid

    def __hash__(self) -> int:
        return hash(self.pid)

    def _state(self) -> Any:
        state = ffi.new("struct rsg_actor_state *")
        call(lib.rsg_actor, self.pid, state, about=repr(self))
        return state

    @staticmethod
    def create(name: str, host: Host, function: Callable[..., object], *arguments: Any) -> Actor:
        """Start a function as an actor on a host, in a thread of this program."""
        if not callable(function):
            raise TypeError(f"create actor {name}: {function!r} is no function")
        pid = number(lib.rsg_actor_create, host.number, name.encode(), about=f"create actor {name}")
        threads[pid] = Terms()
        thread = threading.Thread(target=_lives, args=(pid, name, host, function, arguments), name=name, daemon=True)
        thread.start()
        code = lib.rsg_actor_created(pid)
        if code != lib.RSG_NO_ACTOR:  # of the program that makes the first actors, which is none
            check(code, f"create actor {name}")
        return Actor(pid)

    @staticmethod
    def fork(name: str, host: Host, function: Callable[..., object], *arguments: Any) -> Actor:
        """Start a function as an actor on a host, in a process of its own."""
        sys.stdout.flush()
        pid = number(lib.rsg_actor_create, host.number, name.encode(), about=f"fork actor {name}")
        if os.fork() == 0:
            status = 1
            try:
                status = live(function, arguments, pid)
            finally:
                sys.stdout.flush()
                os._exit(status)
        code = lib.rsg_actor_created(pid)
        if code != lib.RSG_NO_ACTOR:
            check(code, f"fork actor {name}")
        return Actor(pid)

    @staticmethod
    def self() -> Actor:
        """Return the calling actor."""
        state = ffi.new("struct rsg_actor_state *")
        call(lib.rsg_actor, 0, state)
        return Actor(int(state.pid))

    @staticmethod
    def by_pid(pid: int) -> Actor | None:
        """Return the actor of a number, if it is there."""
        return Actor(pid) if lib.rsg_actor(pid, ffi.new("struct rsg_actor_state *")) == 0 else None

    @staticmethod
    def all() -> list[Actor]:
        """Return all actors that live."""
        pids, count = ffi.new(f"int64_t[{PIDS_TOLD}]"), ffi.new("size_t *")
        found: list[Actor] = []
        while True:
            call(lib.rsg_actors, found[-1].pid + 1 if found else 0, pids, PIDS_TOLD, count)
            found += [Actor(int(pids[place])) for place in range(min(int(count[0]), PIDS_TOLD))]
            if not count[0]:
                return found

    @property
    def name(self) -> str:
        """The name."""
        raw: bytes = ffi.string(self._state().name)
        return raw.decode()

    @property
    def ppid(self) -> int:
        """The number of the actor that made this one."""
        return int(self._state().parent)

    @property
    def host(self) -> Host:
        """Where it computes and communicates."""
        return Host(int(self._state().host))

    @host.setter
    def host(self, host: Host) -> None:
        call(lib.rsg_migrate, self.pid, host.number)

    def is_daemon(self) -> bool:
        """Return whether the run does not wait for it."""
        return bool(self._state().is_daemon)

    def is_suspended(self) -> bool:
        """Return whether it was suspended."""
        return bool(self._state().is_suspended)

    def daemonize(self) -> Actor:
        """Return the run is not to wait for this actor, which has to be the caller."""
        call(lib.rsg_daemonize)
        return self

    def join(self, timeout: float = -1.0) -> bool:
        """Wait for its end, for so many seconds; False if the time is over before."""
        return not number(lib.rsg_join, self.pid, timeout)

    def kill(self) -> None:
        """End it. One that has ended already is left alone."""
        code = lib.rsg_kill(self.pid)
        if code != lib.RSG_NO_ACTOR:
            check(code, repr(self))

    def set_kill_time(self, date: float) -> None:
        """Have it killed at a date."""
        call(lib.rsg_kill_time, self.pid, date, about=repr(self))
        if self.pid in threads:
            threads[self.pid].kill_date = date

    def set_auto_restart(self, restarts: bool = True) -> Actor:
        """Have its function called again, by a new actor, when its host comes on after a failure.

        It has to be a thread of this program, which Actor.create has started. Raises AssertionError for another one.
        """
        if self.pid not in threads:
            raise AssertionError(lib.RSG_BAD_VALUE, f"{self!r} is no thread of this program")
        threads[self.pid].restarts = restarts
        return self

    @staticmethod
    def kill_all() -> None:
        """End all others."""
        call(lib.rsg_kill, -1)

    def suspend(self) -> None:
        """Stop it until `resume`."""
        call(lib.rsg_suspend, self.pid)

    def resume(self) -> None:
        """Let it go on."""
        call(lib.rsg_continue, self.pid)


def _lives(pid: int, name: str, host: Host, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    """The thread of an actor: its life, and further ones if it begins again with its host."""
    while True:
        live(function, arguments, pid)
        terms = threads.pop(pid)
        if not terms.restarts or host.is_on():
            return
        check(lib.rsg_await_host(host.number), f"restart actor {name}")
        pid = number(lib.rsg_actor_create, host.number, name.encode(), about=f"restart actor {name}")
        threads[pid] = terms
        if terms.kill_date >= 0:
            call(lib.rsg_kill_time, pid, terms.kill_date)


def live(function: Callable[..., object], arguments: tuple[Any, ...], pid: int = 0) -> int:
    """Return the life of an actor in the calling thread: 0 if its function has returned, else 1.

    A `pid` is that of an actor that was announced; without one the thread is the actor that its program was started as.
    """
    has_failed = True
    own.on_exit = []
    try:
        if pid or lib.rsg_actor(0, ffi.new("struct rsg_actor_state *")):  # librsg connects first, with RSG_AUTOCONNECT
            connect(pid=pid)
        function(*arguments)
        has_failed = False
    except ActorKilled:
        pass
    except SystemExit:
        has_failed = False
    except BaseException:  # an actor that fails is one of many, as in SimGrid
        traceback.print_exc()
    for action in reversed(own.on_exit):
        action(has_failed)
    lib.rsg_end()
    return int(has_failed)
