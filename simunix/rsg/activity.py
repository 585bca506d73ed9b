"""Communications and executions: activities of SimGrid that take virtual time."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

from simunix.rsg._librsg import ffi, lib
from simunix.rsg.connection import call, number
from simunix.rsg.errors import AssertionError
from simunix.rsg.places import Host
from simunix.rsg.waiting import Activity

PICKLED = b"\0simunix.rsg pickle\0"
"""The first bytes of a message whose payload is a pickled Python object; the payload of any other message is bytes."""


def packed(payload: Any) -> bytes:
    """Return a payload as bytes: bytes unchanged, any other object pickled."""
    return payload if type(payload) is bytes else PICKLED + pickle.dumps(payload)


def unpacked(message: Any) -> Any:
    """Return the payload of a received message."""
    if message.bytes == ffi.NULL:
        return b"" if message.size >= 0 else None
    data = ffi.buffer(message.bytes, message.length)[:]
    lib.free(message.bytes)
    return pickle.loads(data[len(PICKLED) :]) if data.startswith(PICKLED) else data


Begin = Callable[["Comm", str], int]
"""A function of librsg that begins or creates a communication, and returns its number. The last argument is "async",
"init" or "detached".
"""


class Comm(Activity):
    """A communication: a put into a mailbox, a get from one, or a transfer between two hosts."""

    def __init__(self, number: int = 0, begin: Begin | None = None) -> None:
        super().__init__(number)
        self._begin = begin
        self._payload: Any = None
        self._size = 0.0
        self._rate = -1.0

    def __repr__(self) -> str:
        return f"communication {self._number}"

    def _create(self, begins: bool) -> int:
        return super()._create(begins) if self._begin is None else self._begin(self, "async" if begins else "init")

    def _timed_out(self) -> None:
        self._is_over = True

    def _came(self, message: Any) -> None:
        if message.size >= 0:
            self._payload = unpacked(message)

    def get_payload(self) -> Any:
        """Return the received payload, once a get has completed."""
        return self._payload

    def set_payload_size(self, size: float) -> Comm:
        """Set the number of simulated bytes of the communication; return the communication."""
        self._size = size
        self._set_term(lib.RSG_AMOUNT, size)
        return self

    def set_rate(self, rate: float) -> Comm:
        """Limit the communication to `rate` bytes per second; return the communication."""
        self._rate = rate
        self._set_term(lib.RSG_RATE, rate)
        return self

    def detach(self) -> Comm:
        """Begin the communication without anyone waiting for its end; if it has dependencies, it begins once they are
        solved. Return the communication.
        """
        if self._is_made:
            call(lib.rsg_detach, self._number, about=repr(self))
        elif self._number or self._begin is None:
            raise AssertionError(lib.RSG_HAS_BEGUN, f"detach: {self!r}")
        elif handle := self._begin(self, "detached"):
            lib.rsg_forget(handle)
        self._is_over = True
        return self

    @staticmethod
    def sendto(source: Host, destination: Host, size: float) -> None:
        """Transfer `size` bytes between two hosts, and wait for the end."""
        call(lib.rsg_sendto, source.number, destination.number, size, -1.0)

    @staticmethod
    def sendto_init(source: Host, destination: Host) -> Comm:
        """Return a transfer between two hosts that has not begun."""

        def begin(comm: Comm, way: str) -> int:
            if way == "detached":
                way = "async"
            operation = getattr(lib, f"rsg_sendto_{way}")
            return number(operation, source.number, destination.number, comm._size, comm._rate, about="sendto")

        return Comm(0, begin)

    @staticmethod
    def sendto_async(source: Host, destination: Host, size: float) -> Comm:
        """Begin a transfer of `size` bytes between two hosts, and return it."""
        comm: Comm = Comm.sendto_init(source, destination).set_payload_size(size).start()
        return comm

    @staticmethod
    def wait_all(comms: Sequence[Comm]) -> None:
        """Wait for the end of each communication, in the given order."""
        for comm in comms:
            comm.wait()

    @staticmethod
    def wait_all_for(comms: Sequence[Comm], timeout: float) -> int:
        """Wait for the communications in the given order, for at most `timeout` seconds in all. Return the index of the
        first that has not ended, or their number if all have.

        The communication that has not ended goes on, unlike with `wait_for`.
        """
        now = ffi.new("double *")
        call(lib.rsg_clock, now)
        end = float(now[0]) + timeout
        for place, comm in enumerate(comms):
            call(lib.rsg_clock, now)
            if Comm.wait_any_for([comm], -1.0 if timeout < 0 else max(0.0, end - float(now[0]))) < 0:
                return place
        return len(comms)

    @staticmethod
    def test_any(comms: Sequence[Comm]) -> int:
        """Return the index of the first communication that has ended, or -1."""
        return next((place for place, comm in enumerate(comms) if comm.test()), -1)


class Exec(Activity):
    """An execution: flops computed on a host."""

    def __init__(self, flops: float) -> None:
        super().__init__()
        self._flops = flops
        self._host: Host | None = None
        self._terms = {"priority": 1.0, "bound": -1.0}

    def __repr__(self) -> str:
        return f"execution {self._number}"

    def _create(self, begins: bool) -> int:
        host = -1 if self._host is None else self._host.number
        operation = lib.rsg_execute_async if begins else lib.rsg_execute_init
        return number(operation, host, self._flops, self._terms["priority"], self._terms["bound"], about="execute")

    def set_priority(self, priority: float) -> Exec:
        """Give the execution `priority` times the share of an ordinary execution; return the execution."""
        self._terms["priority"] = priority
        self._set_term(lib.RSG_WEIGHT, priority)
        return self

    def update_priority(self, priority: float) -> Exec:
        """Change the priority of a running execution; return the execution."""
        call(lib.rsg_set_priority, self._number, priority)
        return self

    def set_bound(self, bound: float) -> Exec:
        """Limit the execution to `bound` flop/s; return the execution."""
        self._terms["bound"] = bound
        self._set_term(lib.RSG_BOUND, bound)
        return self

    @property
    def remaining(self) -> float:
        """The number of flops that are still to be computed."""
        return 0.0 if self._is_over else float(self._state().remaining) if self._number else self._flops

    @property
    def remaining_ratio(self) -> float:
        """The part of the flops that is still to be computed, from 0 to 1."""
        return self.remaining / self._flops if self._flops else 0.0

    @property
    def host(self) -> Host:
        """The host that computes the execution."""
        return self._host or Host.current()

    @host.setter
    def host(self, host: Host) -> None:
        self._set_term(lib.RSG_WHERE, host.number)
        self._host = host
