"""The client of the broker process (csrc/hostinit/broker.c), over whose one socket the server talks to the factory of
hosts and to the first process of each host.

Each partner has a number: 0 is the factory. A host gets its number when it is made; numbers are never reused. A partner
answers questions in the order in which they were asked. Between answers, notices of any partner may arrive; these are
kept until they are asked for.
"""

from __future__ import annotations

import array
import os
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rsg_server.errors import SimunixError

FACTORY = 0
MESSAGE_BYTES = 1 << 18
"""The most bytes of a message from the server to a host's first process."""
ADDRESS_BYTES = 32
ANSWER_BYTES = 4096
SILENCE_S = 1.0
"""The real seconds after which a partner that does not answer is taken to have been stopped (SIGSTOP) by a user or
debugger.
"""


class ContainerError(SimunixError):
    """The error that a host or one of its programs could not be started."""


class HostLostError(ContainerError):
    """The error that a host's first process has ended, and all its processes with it."""


class FactoryError(ContainerError):
    """The error that the factory of hosts has ended, and all hosts with it."""


class KilledError(ContainerError):
    """The error that a program was killed before it began. No emulated process runs during a start, so the killer is
    outside of the emulation.
    """


@dataclass(slots=True)
class Party:
    """The messages of one partner of the broker: its last `answer`, and, in `ended`, the wait(2) statuses of processes
    that nobody has asked for yet.
    """

    asked: int = 0
    answered: int = 0
    answer: str = ""
    ended: dict[int, int] = field(default_factory=dict)
    is_gone: bool = False

    def note(self, text: str) -> None:
        """Process a line of text that this host, or the factory of hosts, has sent through the broker: `ok NUMBER`,
        `error TEXT`, `ended PROCESS STATUS` or `gone`.
        """
        if text == "gone":
            self.is_gone = True
        elif text.startswith("ended "):
            _, process, status = text.split()
            self.ended[int(process)] = int(status)
        else:
            self.answered += 1
            self.answer = text


class Broker:
    """Sends questions to the factory and to hosts, and keeps their messages. Only one thread at a time may use the
    object.
    """

    def __init__(self, control: socket.socket, rouse: Callable[[], None] = lambda: None) -> None:
        self._rouse = rouse  # continues all processes that may be stopped
        control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MESSAGE_BYTES + ADDRESS_BYTES)
        self._control = control
        self._parties = {FACTORY: Party()}
        self._last = FACTORY

    def admit(self) -> int:
        """Return the number for a new host."""
        self._last += 1
        self._parties[self._last] = Party()
        return self._last

    def dismiss(self, number: int) -> None:
        """Close a host's control socket in the broker, which ends the host. Nothing happens if the socket is already
        closed, or the factory has ended.
        """
        if self._parties.pop(number, None) is not None:
            try:
                self._send(f"close={number}", ())
            except FactoryError:
                return  # the socket has ended together with the factory

    def ask(self, number: int, address: str, words: Iterable[str], fds: tuple[int, ...] = ()) -> str | None:
        """Send a message to `address`, and return the answer of partner `number`; None if the partner has ended.

        Raises FactoryError if the factory has ended, and ContainerError if the words cannot be sent as a message.
        """
        party = self._parties.get(number)
        if party is None or party.is_gone:
            return None
        message = _message(words)
        # a question that Ctrl-C interrupted gets an answer, too, which must not be taken for the answer to this
        # question
        party.asked += 1
        mine = party.asked
        self._send(address, fds, message)
        while party.answered < mine and not party.is_gone:
            if not self._listen(SILENCE_S):
                self._rouse()
        return party.answer if party.answered == mine else None

    def wait_ended(self, number: int, process: int, patience_s: float) -> int | None:
        """Wait until a program of a host has ended, and return its wait(2) status. Return None if the host has ended,
        or has been silent for `patience_s` real seconds.

        Raises FactoryError if the factory has ended.
        """
        party = self._parties.get(number)
        deadline = time.monotonic() + patience_s
        while party is not None and process not in party.ended and not party.is_gone:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return None
            if not self._listen(min(left_s, SILENCE_S)):
                self._rouse()
        return None if party is None else party.ended.pop(process, None)

    def _send(self, address: str, fds: tuple[int, ...], message: bytes = b"") -> None:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self._control.settimeout(SILENCE_S)
        try:
            while True:
                try:
                    self._control.sendmsg([f"{address}\0".encode() + message], rights)
                    return
                except TimeoutError:
                    self._rouse()
        except OSError as error:
            raise _death(error) from error
        finally:
            self._control.settimeout(None)

    def _listen(self, patience_s: float) -> bool:
        """Process the next line of any partner; return false if none arrives within `patience_s` real seconds."""
        self._control.settimeout(patience_s)
        try:
            line = self._control.recv(ANSWER_BYTES).decode(errors="replace")
        except TimeoutError:
            return False
        except OSError as error:
            raise _death(error) from error
        finally:
            self._control.settimeout(None)
        if not line:
            raise FactoryError("the factory of hosts has died")
        number, _, text = line.partition(" ")
        party = self._parties.get(int(number))
        if party is not None:  # otherwise the line is the last one of a host that has been dismissed
            party.note(text)
        return True

    def close(self) -> None:
        """Close the socket to the broker, which ends the factory and all hosts."""
        self._control.close()


def _message(words: Iterable[str]) -> bytes:
    encoded = [os.fsencode(word) for word in words]
    if any(b"\0" in word for word in encoded):
        raise ContainerError("an argument or variable of a program holds a zero byte")
    message = b"".join(word + b"\0" for word in encoded)
    if len(message) >= MESSAGE_BYTES:
        raise ContainerError("arguments and environment of a program exceed 256 KiB")
    return message


def _death(error: OSError) -> FactoryError:
    return FactoryError(f"the factory of hosts has died ({error.strerror})")
