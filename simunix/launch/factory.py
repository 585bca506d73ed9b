"""The process that hosts are cloned from (csrc/hostinit/main.c): it stays small, so the last host costs what the first did."""

from __future__ import annotations

import array
import os
import socket
import subprocess
from pathlib import Path

from rsg_server.errors import SimunixError

LIBRARY = Path(__file__).resolve().parent.parent / "lib"
HOSTINIT = LIBRARY / "simunix-hostinit"


class ContainerError(SimunixError):
    """A host or one of its programs could not be started."""


class HostFactory:
    """One for all hosts of a run. Closing it ends the hosts that are left."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = subprocess.Popen([HOSTINIT], stdin=theirs.fileno())
        except OSError as error:
            raise ContainerError(f"{HOSTINIT}: {error.strerror}; install simunix again") from error
        finally:
            theirs.close()

    def bear(self, namespaces: str, control: socket.socket) -> int:
        """A host's first process, with this socket; its number for `await_end`. Raises ContainerError with the reason."""
        return self._ask(f"namespaces={namespaces}", (control.fileno(),))

    def await_end(self, number: int) -> None:
        """Wait until a host's first process has ended, and with it all others of the host."""
        self._ask(f"await={number}")

    def merge_pages(self, pages: int, milliseconds: int) -> None:
        """Have the kernel merge equal pages of all hosts from now on. Raises ContainerError where that cannot be."""
        self._ask(f"merging={pages} {milliseconds}")

    def _ask(self, request: str, fds: tuple[int, ...] = ()) -> int:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            self._control.sendmsg([os.fsencode(request) + b"\0"], rights)
            answer = self._control.recv(4096).decode(errors="replace")
        except OSError as error:
            raise ContainerError(f"the factory of hosts has died ({error.strerror})") from error
        kind, _, text = answer.partition(" ")
        if kind != "ok":
            raise ContainerError(text or "the factory of hosts has died")
        return int(text)

    def close(self) -> None:
        """It puts back what it has changed, and ends."""
        self._control.close()
        self._process.wait()
