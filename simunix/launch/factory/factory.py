"""The small processes from which hosts are made (csrc/hostinit). Because they stay small, making the last host costs as
much as making the first.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path

from simunix.launch.factory.broker import FACTORY, SILENCE_S, Broker, ContainerError, FactoryError, HostLostError, KilledError

LIBRARY = Path(__file__).resolve().parents[2] / "lib"
HOSTINIT = LIBRARY / "simunix-hostinit"
INIT_ENVIRONMENT = {"HOME": "/", "TERM": "linux"}
"""The environment of a host's first process, like that which the kernel gives to init. The host's users can read it, so
it has nothing of the caller's environment.
"""


class Line:
    """The server's connection to one host's first process: a number on the broker's socket, without a descriptor of its
    own.
    """

    def __init__(self, factory: HostFactory, number: int, init: int) -> None:
        self.init = init
        """The process number of the host's first process, as this computer sees it."""
        self._factory = factory
        self._number = number

    def ask(self, words: Iterable[str], fds: tuple[int, ...] = ()) -> int:
        """Send a message to the host's first process, and return the number that it answers. Raises ContainerError if
        it answers with an error.
        """
        answer = self._factory.broker.ask(self._number, f"host={self._number}", words, fds)
        return _number_in(answer, HostLostError("its init has died"))

    def wait_ended(self, process: int, patience_s: float) -> int | None:
        """Return the wait(2) status of a program of the host that has ended; None if the host has ended or no status
        arrives within `patience_s` real seconds.

        Raises FactoryError if the factory has ended.
        """
        return self._factory.broker.wait_ended(self._number, process, patience_s)

    def give_up(self) -> None:
        """End every process of the host."""
        self._factory.broker.dismiss(self._number)

    def close(self) -> None:
        """End every process of the host, and wait until all are gone."""
        self.give_up()
        self._factory.await_end(self.init)


class HostFactory:
    """The factory of all hosts of a run. Closing the factory ends all hosts."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.broker = Broker(ours, self._rouse)
        self._inits: set[int] = set()
        try:
            self._process = subprocess.Popen([HOSTINIT], stdin=theirs.fileno(), env=INIT_ENVIRONMENT)
        except OSError as error:
            self.broker.close()
            raise ContainerError(f"{HOSTINIT}: {error.strerror}; install simunix again") from error
        finally:
            theirs.close()

    def bear(self, namespaces: str, kept: Iterable[str] = ()) -> Line:
        """Start the first process of a new host, and return the connection to it. Root of the host owns the folders
        `kept` if the caller does. Raises ContainerError if the host cannot be made.
        """
        number = self.broker.admit()
        try:
            init = self._ask(f"birth={number}", f"namespaces={namespaces}", *(f"kept={path}" for path in kept))
        except BaseException:
            self.broker.dismiss(number)
            raise
        self._inits.add(init)
        return Line(self, number, init)

    def await_end(self, init: int) -> None:
        """Wait until a host's first process has ended, and with it all other processes of the host."""
        self._ask(f"factory={FACTORY}", f"await={init}")
        self._inits.discard(init)

    def _rouse(self) -> None:
        """Continue (SIGCONT) the broker, the fork server and the hosts' first processes, one of which does not answer
        and so may be stopped.
        """
        broker = self._process.pid
        for process in (broker, *_children(broker), *self._inits):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGCONT)

    def merge_pages(self, pages: int, milliseconds: int) -> None:
        """Make the kernel merge equal pages of all hosts from now on. Raises ContainerError if the kernel or the user's
        rights do not allow it.
        """
        self._ask(f"factory={FACTORY}", f"ksm={pages} {milliseconds}")

    def _ask(self, address: str, *request: str) -> int:
        return _number_in(self.broker.ask(FACTORY, address, request), FactoryError("the factory of hosts has died"))

    def close(self) -> None:
        """End the factory, which restores the kernel's settings that it has changed."""
        self.broker.close()
        while True:
            try:
                self._process.wait(SILENCE_S)
                return
            except subprocess.TimeoutExpired:
                self._rouse()


def _children(process: int) -> list[int]:
    """Return the pids of a process's children, from /proc."""
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def _number_in(answer: str | None, death: ContainerError) -> int:
    if not answer:
        raise death
    kind, _, text = answer.partition(" ")
    if kind != "ok":
        raise (KilledError if kind == "killed" else ContainerError)(text)
    return int(text)
