"""The sockets of the I/O coordinator: one thread, and one connection for each application.

Requests of one moment must be compared with each other, whatever their order. So after a message the coordinator yields
the processor (sched_yield(2)) until no application sends anything more, and decides then.
"""

from __future__ import annotations

import argparse
import csv
import os
import selectors
import socket
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from simunix.io_coordinator.application import Application
from simunix.io_coordinator.coordinator import Coordinator, CoordinatorError, Phase
from simunix.io_coordinator.policies import NAMES
from simunix.io_coordinator.wire import PORT, Lines, WireError, numbers, parse_address, words_of

YIELDS = 3
"""How often the coordinator yields the processor after the last message: an application may need to run once to wake
up, and once to send its request.
"""
COLUMNS = ("application", "group", "requested", "granted", "released", "bytes")


@dataclass(slots=True, eq=False)
class Connection:
    """A connection, and the application that registered over it."""

    stream: socket.socket
    lines: Lines = field(default_factory=Lines)
    application: Application | None = None

    def tell(self, message: str) -> None:
        """Send a message. An application that has gone, or does not read, is detected at the next read."""
        with suppress(OSError):
            self.stream.send(message.encode() + b"\n", socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)


class Daemon:
    """Reads the applications' messages, passes them to the coordinator, sends its grants, and writes finished I/O
    phases to `log`.
    """

    def __init__(self, coordinator: Coordinator, listener: socket.socket, log: Any = None) -> None:
        self._coordinator = coordinator
        self._listener = listener
        self._log = csv.writer(log, lineterminator="\n") if log is not None else None
        self._selector = selectors.PollSelector()
        self._selector.register(listener, selectors.EVENT_READ, None)
        self._connections: dict[Application, Connection] = {}
        if self._log is not None:
            self._log.writerow(COLUMNS)

    def serve(self) -> None:
        """Serve for ever."""
        while True:
            self._read(None)
            quiet = 0
            while quiet < YIELDS:
                os.sched_yield()
                quiet = 0 if self._read(0) else quiet + 1
            for application in self._coordinator.decide(time.monotonic_ns()):
                self._connections[application].tell(f"GRANT {self._coordinator.rate_of(application)}")

    def _read(self, timeout_s: float | None) -> bool:
        """Read all messages that have arrived, waiting up to `timeout_s` seconds (None: for ever); return whether there
        was any.
        """
        ready = self._selector.select(timeout_s)
        for key, _ in ready:
            if key.data is None:
                self._accept()
            else:
                self._take(key.data)
        return bool(ready)

    def _accept(self) -> None:
        stream, _ = self._listener.accept()
        if stream.family == socket.AF_INET:
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(stream, selectors.EVENT_READ, Connection(stream))

    def _take(self, connection: Connection) -> None:
        try:
            data = connection.stream.recv(4096)
            for line in connection.lines.feed(data):
                self._message(connection, words_of(line))
        except (CoordinatorError, WireError) as error:
            print(f"an application is cut off: {error}", file=sys.stderr, flush=True)
            connection.tell(f"ERROR {error}")
            data = b""
        except ConnectionError:
            data = b""
        if not data:
            self._close(connection)

    def _close(self, connection: Connection) -> None:
        self._selector.unregister(connection.stream)
        connection.stream.close()
        if connection.application is not None:
            self._coordinator.gone(connection.application)
            del self._connections[connection.application]

    def _message(self, connection: Connection, words: list[str]) -> None:
        kind, *rest = words
        if kind == "REGISTER":
            self._register(connection, rest)
            return
        if connection.application is None:
            raise WireError(f"{kind} before REGISTER")
        if kind == "REQUEST":
            size_bytes, order = numbers(rest, 2, kind)
            self._coordinator.request(time.monotonic_ns(), connection.application, size_bytes, order)
        elif kind == "RELEASE" and not rest:
            self._write(self._coordinator.release(time.monotonic_ns(), connection.application))
        else:
            raise WireError(f"{kind}: expected REGISTER, REQUEST or RELEASE")

    def _register(self, connection: Connection, rest: list[str]) -> None:
        if connection.application is not None or len(rest) != 3:
            raise WireError("REGISTER: expected once, with ID ALONE_NS GROUP")
        number, alone_ns = numbers(rest[:2], 2, "REGISTER")
        connection.application = self._coordinator.register(time.monotonic_ns(), number, alone_ns, rest[2])
        self._connections[connection.application] = connection

    def _write(self, phase: Phase) -> None:
        if self._log is not None:
            times = (f"{ns / 10**9:.9f}" for ns in (phase.requested_ns, phase.granted_ns, phase.released_ns))
            self._log.writerow((phase.number, phase.group, *times, phase.size_bytes))


def listen(address: str) -> socket.socket:
    """Return a socket that listens at HOST:PORT or unix:PATH. Raises WireError for a malformed address."""
    family, where = parse_address(address)
    listener = socket.socket(family, socket.SOCK_STREAM)
    if family == socket.AF_INET:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(where)
    listener.listen(128)
    return listener


def _rates(texts: Iterable[str]) -> Mapping[str, int]:
    rates = {}
    for text in texts:
        group, equals, rate = text.partition("=")
        if not equals or not rate.isdecimal() or not int(rate):
            raise WireError(f"--rate {text}: expected GROUP=BYTES_PER_SECOND")
        rates[group] = int(rate)
    return rates


def main(words: Sequence[str] | None = None) -> int:
    """Run the daemon until a signal ends it; return the exit code."""
    parser = argparse.ArgumentParser(prog="python3 -m simunix.io_coordinator", description=__doc__.partition("\n")[0])
    parser.add_argument("--listen", default=f"0.0.0.0:{PORT}", metavar="ADDRESS", help="HOST:PORT or unix:PATH")
    parser.add_argument("--policy", choices=NAMES, default="fifo")
    parser.add_argument(
        "--rate",
        action="append",
        default=[],
        metavar="GROUP=B",
        help="bytes per second that a group of applications may use; may be repeated",
    )
    parser.add_argument("--log", metavar="FILE", help="write finished I/O phases into this CSV file")
    options = parser.parse_args(words)
    try:
        coordinator, listener = Coordinator(options.policy, _rates(options.rate)), listen(options.listen)
        log = open(options.log, "w", newline="", buffering=1) if options.log else None  # noqa: SIM115 (as long as the daemon)
    except (WireError, OSError) as error:
        print(f"io_coordinator: {error}", file=sys.stderr)
        return 2
    Daemon(coordinator, listener, log).serve()
    return 0
