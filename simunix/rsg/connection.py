"""Make threads of this program actors of Remote SimGrid, and call librsg's operations.

The main thread of a program without an Engine becomes an actor at its first operation that needs one: the actor in the
variable RSG_INITIAL_ACTOR_ID, or a new actor with the program's name. Threads that Actor.create starts are actors
already.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

from simunix.rsg._librsg import ffi, lib
from simunix.rsg.errors import check


class Program:
    """The role of this process: `is_maestro` is true once it has an Engine, and then its main thread is no actor."""

    is_maestro = False


def call(operation: Callable[..., int], *arguments: object, about: str = "") -> None:
    """Call an operation of librsg. Raises the exception for its error code; `about` is added to the message."""
    code = operation(*arguments)
    if code == lib.RSG_NO_ACTOR and _may_connect():
        connect()
        code = operation(*arguments)
    check(code, about)


def _may_connect() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and not Program.is_maestro and lib.rsg_actor(0, ffi.new("struct rsg_actor_state *")) == lib.RSG_NO_ACTOR


def connect(name: str | None = None, pid: int = 0) -> int:
    """Make the calling thread an actor, and wait until the actors have begun. Return the actor's number."""
    own = ffi.new("int64_t *")
    text = (name or os.path.basename(sys.argv[0]) or "python").encode()
    if pid:
        check(lib.rsg_connect(pid, text, own), "connect")
    else:
        check(lib.rsg_connect_from_environment(text, own), "connect")
    return int(own[0])


def number(operation: Callable[..., int], *arguments: object, about: str = "") -> int:
    """Return the integer that an operation of librsg yields. Raises the exception for its error code."""
    found = ffi.new("int64_t *")
    call(operation, *arguments, found, about=about)
    return int(found[0])


def real(operation: Callable[..., int], *arguments: object, about: str = "") -> float:
    """Return the floating-point number that an operation of librsg yields. Raises the exception for its error code."""
    found = ffi.new("double *")
    call(operation, *arguments, found, about=about)
    return float(found[0])
