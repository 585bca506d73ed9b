"""The requests that the `simunix rsg` commands send to a running server: add an actor, start, tell the state, end."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rsg_server.errors import SimunixError
from simunix.app.join import NotRunningError, ask, exit_code
from simunix.app.rsg_ports import HOSTNAME, PORT, directory_of, nobody

RETRY_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class NewActor:
    """An actor that is to be added to a server, and the command that becomes the actor."""

    name: str
    host: str
    argv: tuple[str, ...]
    connects_by_itself: bool = True  # the actor connects to the server before main(), as a program linked with librsg does
    waits: bool = False


def ask_server(port: int, request: dict[str, object], fds: Sequence[int] = ()) -> dict[str, Any]:
    """Send a request to the server of a port, and return its answer. Raises SimunixError if no server has the port, or
    if the server refuses the request.
    """
    try:
        return ask(directory_of(port), request, fds)
    except NotRunningError:
        raise nobody(port) from None


def add_actor(port: int, actor: NewActor) -> int:
    """Add an actor to the server of a port; the actor's program uses the standard streams of this process.

    Return 0, or the exit code of the program if the actor asks to wait for it.
    """
    environment = {**os.environ, PORT: str(port), HOSTNAME: "127.0.0.1", "PYTHONUNBUFFERED": "1"}
    environment.pop("RSG_AUTOCONNECT", None)
    if actor.connects_by_itself:
        environment["RSG_AUTOCONNECT"] = "1"
    request = {
        "op": "rsg add-actor",
        "name": actor.name,
        "host": actor.host,
        "argv": list(actor.argv),
        "environment": environment,
        "directory": os.getcwd(),
        "waits": actor.waits,
    }
    status = ask_server(port, request, (0, 1, 2))["status"]
    if not actor.waits:
        return 0
    if status is None or status < 0:
        raise SimunixError(f"{actor.argv[0]}: the server ended before this program did")
    return exit_code(status)


def start(port: int) -> int:
    """Let the actors of the server of a port begin; return the exit code 0."""
    ask_server(port, {"op": "rsg start"})
    return 0


def status(port: int, retry_s: float) -> dict[str, Any]:
    """Return the state of the server of a port. If no server has the port yet, try again for `retry_s` seconds of real
    time.
    """
    deadline = time.monotonic() + retry_s
    while True:
        try:
            return ask_server(port, {"op": "rsg status"})
        except SimunixError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(RETRY_S)


def kill(port: int, reason: str) -> int:
    """End the server of a port together with all programs that run there, and wait until the server has exited; return
    the exit code 0.
    """
    directory = directory_of(port)
    ask_server(port, {"op": "rsg kill", "reason": reason})
    while True:
        try:
            if directory_of(port) != directory:
                return 0
        except SimunixError:
            return 0
        time.sleep(RETRY_S)
