"""Send requests to a running emulation through the control socket in its run directory."""

from __future__ import annotations

import array
import json
import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError
from simunix.launch.run_directory import CONTROL_SOCKET
from simunix.ranges import fold_hosts

PIECE_BYTES = 1 << 18


class NotRunningError(SimunixError):
    """The error that no emulation runs in a run directory."""


def connect(directory: Path) -> socket.socket:
    """Connect to the control socket of the emulation in a run directory, and return the socket. Raises NotRunningError
    if no emulation runs there.
    """
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
    """Send one request to a running emulation, with descriptors in `fds`, and return the answer. Raises SimunixError
    with the message if the answer is an error.
    """
    with connect(directory) as control:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        control.sendmsg([json.dumps(request).encode()], rights)
        message = b"".join(iter(lambda: control.recv(PIECE_BYTES), b""))
    return answer_of(message, directory)


def follow(directory: Path, every_s: float) -> Iterator[dict[str, Any]]:
    """Yield what a viewer of a running emulation is told (rsg_server.edge.watch), until the run ends. Raises SimunixError."""
    with connect(directory) as control:
        control.send(json.dumps({"op": "watch", "every_s": every_s}).encode())
        rest = b""
        for piece in iter(lambda: control.recv(PIECE_BYTES), b""):
            *lines, rest = (rest + piece).split(b"\n")
            yield from map(json.loads, lines)
        if rest:
            yield answer_of(rest, directory)


def answer_of(message: bytes, directory: Path) -> dict[str, Any]:
    """Parse the answer of an emulation. Raises SimunixError if the answer is an error, or if `message` is empty."""
    if not message:
        raise SimunixError(f"{directory}: the emulation ended before it answered")
    answer: dict[str, Any] = json.loads(message)
    if "error" in answer:
        raise SimunixError(answer["error"])
    return answer


def chosen_host(directory: Path, host: str | None) -> str:
    """Return the host that a command means: `host`, or the only host of the emulation if `host` is None. Raises
    SimunixError if there are several hosts.
    """
    if host is not None:
        return host
    hosts: list[str] = ask(directory, {"op": "status"})["hosts"]
    if len(hosts) != 1:
        raise SimunixError(f"--host: choose one of {fold_hosts(hosts)}")
    return hosts[0]


def join(directory: Path, host: str | None, argv: Sequence[str]) -> int:
    """Run a program on a host of a running emulation, on the terminal of this process; return the program's exit code."""
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
        raise SimunixError(f"{argv[0]}: the emulation ended before this program did")
    return exit_code(status)


def exit_code(status: int) -> int:
    """Return the exit code that a shell reports for a wait(2) status: 128 + the signal's number if a signal ended the
    program.
    """
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
