"""The server's one socket to the factory of hosts (csrc/hostinit/broker.c), and what each party has said over it.

Each side of a conversation has a number: 0 is the factory, a host's is given at its birth and never again. Answers come in the
order of the questions to one party; in between come notices, of this party and of others, which are kept until asked for.
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
"""The longest message for a host."""
ADDRESS_BYTES = 32
ANSWER_BYTES = 4096
SILENCE_S = 1.0
"""Real time after which a party that does not answer is taken to be stopped (SIGSTOP), by a user or a debugger."""


class ContainerError(SimunixError):
    """A host or one of its programs could not be started."""


class HostLostError(ContainerError):
    """A host's first process is gone, and the host with it."""


class FactoryError(ContainerError):
    """The factory of hosts is gone, and all hosts with it."""


class KilledError(ContainerError):
    """A program was killed before it began: from outside, as nothing inside runs meanwhile."""


@dataclass(slots=True)
class Party:
    """What one party has said: its last `answer`, and in `ended`, until they are asked for, statuses of programs by process."""

    asked: int = 0
    answered: int = 0
    answer: str = ""
    ended: dict[int, int] = field(default_factory=dict)
    is_gone: bool = False

    def note(self, text: str) -> None:
        """Take in a line of this party: `ok NUMBER`, `error TEXT`, `ended PROCESS STATUS` or `gone`."""
        if text == "gone":
            self.is_gone = True
        elif text.startswith("ended "):
            _, process, status = text.split()
            self.ended[int(process)] = int(status)
        else:
            self.answered += 1
            self.answer = text


class Broker:
    """Asks parties and keeps what they say. One thread at a time may use it."""

    def __init__(self, control: socket.socket, rouse: Callable[[], None] = lambda: None) -> None:
        self._rouse = rouse  # continues all processes that may be stopped
        control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MESSAGE_BYTES + ADDRESS_BYTES)
        self._control = control
        self._parties = {FACTORY: Party()}
        self._last = FACTORY

    def admit(self) -> int:
        """Give a new host its number."""
        self._last += 1
        self._parties[self._last] = Party()
        return self._last

    def dismiss(self, number: int) -> None:
        """Have a host's control socket closed, which ends the host; harmless if that was done, or if the factory is gone."""
        if self._parties.pop(number, None) is not None:
            try:
                self._send(f"close={number}", ())
            except FactoryError:
                return  # the socket went with the factory

    def ask(self, number: int, address: str, words: Iterable[str], fds: tuple[int, ...] = ()) -> str | None:
        """Send a message to `address` and return the answer of the party that it is for; None if the party is gone.

        Raises FactoryError if the factory is gone, ContainerError if the words are no message.
        """
        party = self._parties.get(number)
        if party is None or party.is_gone:
            return None
        message = _message(words)
        party.asked += 1  # an earlier question that Ctrl-C cut short is answered too, and that answer is not this one's
        mine = party.asked
        self._send(address, fds, message)
        while party.answered < mine and not party.is_gone:
            if not self._listen(SILENCE_S):
                self._rouse()
        return party.answer if party.answered == mine else None

    def wait_ended(self, number: int, process: int, patience_s: float) -> int | None:
        """The status of a host's program that has ended, as wait(2) gives it; None if its host is gone or silent for too long.

        Raises FactoryError as `ask` does.
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
        """Take in the next line of any party; false if none has come in time."""
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
        if party is not None:  # else the last line of a host that has been dismissed
            party.note(text)
        return True

    def close(self) -> None:
        """Close the socket, which ends the factory and all hosts with it."""
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
