"""Actors of Remote SimGrid: threads of this program, or processes of their own."""

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
    """The data of the calling thread as an actor: the functions to call at its end."""

    def __init__(self) -> None:
        self.on_exit: list[Callable[[bool], object]] = []


own = Own()


@dataclass
class Terms:
    """How an actor that is a thread of this program ends: whether it starts again when its host comes back on, and when
    it is killed.
    """

    restarts: bool = False
    kill_date: float = -1.0


threads: dict[int, Terms] = {}
"""The actors that are threads of this program, by number."""


class Actor:
    """An actor, identified by its number."""

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
        """Start a function as an actor on a host, in a thread of this program; return the actor."""
        if not callable(function):
            raise TypeError(f"create actor {name}: {function!r} is no function")
        pid = number(lib.rsg_actor_create, host.number, name.encode(), about=f"create actor {name}")
        threads[pid] = Terms()
        thread = threading.Thread(target=_lives, args=(pid, name, host, function, arguments), name=name, daemon=True)
        thread.start()
        code = lib.rsg_actor_created(pid)
        if code != lib.RSG_NO_ACTOR:  # the program that creates the first actors is no actor itself
            check(code, f"create actor {name}")
        return Actor(pid)

    @staticmethod
    def fork(name: str, host: Host, function: Callable[..., object], *arguments: Any) -> Actor:
        """Start a function as an actor on a host, in a process of its own; return the actor."""
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
        """Return the actor with a number; None if there is none."""
        return Actor(pid) if lib.rsg_actor(pid, ffi.new("struct rsg_actor_state *")) == 0 else None

    @staticmethod
    def all() -> list[Actor]:
        """Return all living actors."""
        pids, count = ffi.new(f"int64_t[{PIDS_TOLD}]"), ffi.new("size_t *")
        found: list[Actor] = []
        while True:
            call(lib.rsg_actors, found[-1].pid + 1 if found else 0, pids, PIDS_TOLD, count)
            found += [Actor(int(pids[place])) for place in range(min(int(count[0]), PIDS_TOLD))]
            if not count[0]:
                return found

    @property
    def name(self) -> str:
        """The actor's name."""
        raw: bytes = ffi.string(self._state().name)
        return raw.decode()

    @property
    def ppid(self) -> int:
        """The number of the actor that created this actor."""
        return int(self._state().parent)

    @property
    def host(self) -> Host:
        """The host on which the actor computes and communicates."""
        return Host(int(self._state().host))

    @host.setter
    def host(self, host: Host) -> None:
        call(lib.rsg_migrate, self.pid, host.number)

    def is_daemon(self) -> bool:
        """Return whether the actor is a daemon, for which the run does not wait."""
        return bool(self._state().is_daemon)

    def is_suspended(self) -> bool:
        """Return whether the actor is suspended."""
        return bool(self._state().is_suspended)

    def daemonize(self) -> Actor:
        """Make the actor, which must be the calling one, a daemon, for which the run does not wait; return the actor."""
        call(lib.rsg_daemonize)
        return self

    def join(self, timeout: float = -1.0) -> bool:
        """Wait for the actor's end, for at most `timeout` seconds (below 0: without a limit). Return false if the time
        is over before the end.
        """
        return not number(lib.rsg_join, self.pid, timeout)

    def kill(self) -> None:
        """Kill the actor. Nothing happens if it has ended already."""
        code = lib.rsg_kill(self.pid)
        if code != lib.RSG_NO_ACTOR:
            check(code, repr(self))

    def set_kill_time(self, date: float) -> None:
        """Let the actor be killed at a date, in virtual seconds."""
        call(lib.rsg_kill_time, self.pid, date, about=repr(self))
        if self.pid in threads:
            threads[self.pid].kill_date = date

    def set_auto_restart(self, restarts: bool = True) -> Actor:
        """Let a new actor call this actor's function again when its host comes back on after a failure; return the
        actor.

        The actor must be a thread of this program that Actor.create has started. Raises AssertionError for another
        actor.
        """
        if self.pid not in threads:
            raise AssertionError(lib.RSG_BAD_VALUE, f"{self!r} is no thread of this program")
        threads[self.pid].restarts = restarts
        return self

    @staticmethod
    def kill_all() -> None:
        """Kill all other actors."""
        call(lib.rsg_kill, -1)

    def suspend(self) -> None:
        """Stop the actor until `resume` is called."""
        call(lib.rsg_suspend, self.pid)

    def resume(self) -> None:
        """Let a suspended actor continue."""
        call(lib.rsg_continue, self.pid)


def _lives(pid: int, name: str, host: Host, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    """Run the function of an actor in its thread, again if the actor starts again with its host."""
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
    """Run the function of an actor in the calling thread. Return 0 if the function has returned, 1 if it has failed.

    `pid` is the number of an announced actor. Without it, the thread is the actor as which its program was started.
    """
    has_failed = True
    own.on_exit = []
    try:
        if pid or lib.rsg_actor(0, ffi.new("struct rsg_actor_state *")):  # librsg connects by itself if RSG_AUTOCONNECT is set
            connect(pid=pid)
        function(*arguments)
        has_failed = False
    except ActorKilled:
        pass
    except SystemExit:
        has_failed = False
    except BaseException:  # the failure of an actor does not end the program, as in SimGrid
        traceback.print_exc()
    for action in reversed(own.on_exit):
        action(has_failed)
    lib.rsg_end()
    return int(has_failed)
