"""Requests to a running emulation, by way of the control socket in its run directory."""

from __future__ import annotations

import array
import json
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError
from simunix.launch.run_directory import CONTROL_SOCKET
from simunix.ranges import fold_hosts

PIECE_BYTES = 1 << 18


class NotRunningError(SimunixError):
    """No emulation runs in a run directory."""


def connect(directory: Path) -> socket.socket:
    """A connection to the emulation of a run directory. Raises NotRunningError if none runs there."""
    try:
        folder = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise NotRunningError(f"{directory}: {error.strerror}; give the run directory of a running emulation") from error
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        control.connect(f"/proc/self/fd/{folder}/{CONTROL_SOCKET}")
    except OSError as error:
        control.close()
        raise NotRunningError(f"{directory}: no emulation is running here; start one with simunix run … --out") from error
    finally:
        os.close(folder)
    return control


def ask(directory: Path, request: dict[str, object], fds: Sequence[int] = ()) -> dict[str, Any]:
    """Send one request and return its answer. Raises the error that the answer tells, as SimunixError."""
    with connect(directory) as control:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        control.sendmsg([json.dumps(request).encode()], rights)
        message = b"".join(iter(lambda: control.recv(PIECE_BYTES), b""))
    return answer_of(message, directory)


def answer_of(message: bytes, directory: Path) -> dict[str, Any]:
    """The answer of an emulation. Raises the error that it tells, or that there is none, as SimunixError."""
    if not message:
        raise SimunixError(f"{directory}: the emulation ended before it answered")
    answer: dict[str, Any] = json.loads(message)
    if "error" in answer:
        raise SimunixError(answer["error"])
    return answer


def chosen_host(directory: Path, host: str | None) -> str:
    """The host that is meant: the only one if none is named. Raises SimunixError if there are several."""
    if host is not None:
        return host
    hosts: list[str] = ask(directory, {"op": "status"})["hosts"]
    if len(hosts) != 1:
        raise SimunixError(f"--host: choose one of {fold_hosts(hosts)}")
    return hosts[0]


def join(directory: Path, host: str | None, argv: Sequence[str]) -> int:
    """Run a program on a host of a running emulation, on the terminal of this process; return its exit code."""
    host = chosen_host(directory, host)
    request: dict[str, object] = {
        "op": "run",
        "host": host,
        "argv": list(argv),
        "environment": dict(os.environ),
        "directory": os.getcwd(),
    }
    status = ask(directory, request, (0, 1, 2))["status"]
    if status is None or status < 0:
        raise SimunixError(f"{argv[0]}: the emulation ended before it did")
    return exit_code(status)


def exit_code(status: int) -> int:
    """A shell's exit code for a wait(2) status: 128 + signal for a death by signal."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
