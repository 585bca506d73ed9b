"""Mailboxes of Remote SimGrid, at which actors send (put) and receive (get) payloads."""

from __future__ import annotations

from typing import Any

from simunix.rsg._librsg import ffi, lib
from simunix.rsg.activity import Comm, packed, unpacked
from simunix.rsg.actor import Actor
from simunix.rsg.connection import call, number


class Mailbox:
    """A mailbox, identified by its name."""

    _known: dict[str, Mailbox] = {}

    def __init__(self, name: str) -> None:
        self.name = name
        self._number = number(lib.rsg_mailbox, name.encode(), about=f"mailbox {name}")

    def __repr__(self) -> str:
        return f"Mailbox({self.name!r})"

    @staticmethod
    def by_name(name: str) -> Mailbox:
        """Return the mailbox with a name; it is created if it does not exist."""
        found = Mailbox._known.get(name)
        if found is None:
            found = Mailbox._known[name] = Mailbox(name)
        return found

    def _state(self) -> Any:
        state = ffi.new("struct rsg_mailbox_state *")
        call(lib.rsg_mailbox_state, self._number, state)
        return state

    @property
    def ready(self) -> bool:
        """Whether the next get would return at once."""
        return bool(self._state().is_ready)

    @property
    def empty(self) -> bool:
        """Whether neither a put nor a get is waiting."""
        state = self._state()
        return not state.puts and not state.gets

    @property
    def listen(self) -> bool:
        """Whether a put is waiting."""
        return bool(self._state().puts)

    def put(self, payload: Any, size: float, timeout: float = -1.0) -> None:
        """Send a payload as `size` simulated bytes, and wait until it has arrived, for at most `timeout` seconds (below
        0: without a limit).
        """
        data = packed(payload)
        call(lib.rsg_put, self._number, data, len(data), float(size), -1.0, timeout, about=f"put to mailbox {self.name}")

    def put_async(self, payload: Any, size: float) -> Comm:
        """Begin to send a payload as `size` simulated bytes, and return the communication."""
        comm: Comm = self.put_init(payload, size).start()
        return comm

    def put_init(self, payload: Any, size: float) -> Comm:
        """Return a put that has not begun."""
        data = packed(payload)

        def begin(comm: Comm, way: str) -> int:
            about = f"put to mailbox {self.name}"
            arguments = (getattr(lib, f"rsg_put_{way}"), self._number, data, len(data), comm._size, comm._rate)
            if way == "detached":
                call(*arguments, about=about)
                return 0
            return number(*arguments, about=about)

        return Comm(0, begin).set_payload_size(float(size))

    def get(self, timeout: float = -1.0) -> Any:
        """Wait for a payload, for at most `timeout` seconds (below 0: without a limit), and return it."""
        message = ffi.new("struct rsg_message *")
        call(lib.rsg_get, self._number, -1.0, timeout, message, about=f"get from mailbox {self.name}")
        return unpacked(message)

    def get_init(self) -> Any:
        """Return a get that has not begun: the communication, and the object that will hold the payload."""

        def begin(comm: Comm, way: str) -> int:
            operation = lib.rsg_get_init if way == "init" else lib.rsg_get_async
            return number(operation, self._number, comm._rate, about=f"get from mailbox {self.name}")

        comm = Comm(0, begin)
        return comm, _Received(comm)

    def get_async(self) -> Any:
        """Begin to receive. Return the communication, and the object that will hold the payload, as SimGrid does."""
        comm = Comm(number(lib.rsg_get_async, self._number, -1.0, about=f"get from mailbox {self.name}"))
        return comm, _Received(comm)

    def set_receiver(self, actor: Actor | None) -> None:
        """Let payloads that are put here begin to move to an actor's host at once, before the actor asks for them; None
        ends this.
        """
        call(lib.rsg_mailbox_receiver, self._number, -1 if actor is None else actor.pid)


class _Received:
    """The object that holds the payload of a get, once the get has completed."""

    def __init__(self, comm: Comm) -> None:
        self._comm = comm

    def get(self) -> Any:
        """Return the payload of the completed get."""
        return self._comm.get_payload()
