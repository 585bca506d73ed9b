"""Actors of Remote SimGrid without programs: a test makes the operations of a thread, and lets virtual time pass meanwhile."""

from __future__ import annotations

import struct
from ipaddress import ip_address

from rsg_server._native import lib

from rsg_server.platform.host import Host
from rsg_server.process.actor import State
from rsg_server.rsg.errors import Code
from rsg_server.rsg.operations.table import operate
from tests.unit.rsg_server.fakes import Fake

SPEED = 1e9
HOST = Host("h0", (ip_address("10.0.0.1"),), cores=64, speeds_flops=(SPEED,))


class Program:
    """A thread that is an actor."""

    def __init__(self, fake: Fake, name: str = "actor") -> None:
        self._fake = fake
        self.thread = fake.born()
        self.room = fake.kernel.rsg
        self.ask(lib.RSG_CONNECT, "q", 0, text=name.encode())

    def ask(self, operation: int, layout: str = "", *fields: float, text: bytes = b"") -> tuple[Code, bytes]:
        """Do an operation, and let time pass until it is answered: the error, and the answer's bytes."""
        self.thread.reply = ()
        told = operate(self.room, self.thread, operation, 0, struct.pack("<" + layout, *fields) + text)
        if told is not None:
            return told
        kernel, moments = self._fake.kernel, self.room.moments
        while not self.thread.reply:
            while moments.is_unsettled:
                moments.settle()
            if not self.thread.reply:
                due = kernel.timeline.next_ns
                assert due is not None, self.room.words(self.thread)
                self._fake.pass_time(due)
        while kernel.run_queue:
            kernel.run_queue.pick()
        self.thread.state = State.RUNNING
        _, code, data = self.thread.reply
        return Code(code), data

    def number(self, operation: int, layout: str = "", *fields: float, text: bytes = b"") -> int:
        """The integer that an operation which must not fail finds out."""
        code, data = self.ask(operation, layout, *fields, text=text)
        assert code is Code.NONE, code
        return int(struct.unpack_from("<q", data)[0]) if data else 0

    def made(self, seconds: float, flags: int = lib.RSG_LATER) -> int:
        """An execution of so many seconds on a core of its own, not begun."""
        return self.number(lib.RSG_EXECUTE, "qqddd", -1, flags, seconds * SPEED, 1.0, -1.0)

    def relate(self, one: int, other: int, is_new: bool = True) -> Code:
        """Have an activity begin after another one, or no longer so."""
        return self.ask(lib.RSG_SUCCESSOR, "qqq", one, other, is_new)[0]

    def start(self, activity: int, flags: int = 0) -> Code:
        """Start an activity."""
        return self.ask(lib.RSG_START, "qq", activity, flags)[0]

    def wait(self, activity: int, timeout_s: float = -1.0) -> Code:
        """Wait for an activity."""
        return self.ask(lib.RSG_WAIT, "qd", activity, timeout_s)[0]

    def state(self, activity: int) -> int:
        """One of enum simunix_rsg_state."""
        return self.number(lib.RSG_ACTIVITY, "q", activity)

    def dependencies(self, activity: int) -> list[int]:
        """What an activity waits for."""
        _, data = self.ask(lib.RSG_DEPENDENCIES, "qq", activity, 0)
        return list(struct.unpack(f"<{len(data) // 8}q", data))

    @property
    def date_s(self) -> float:
        return self.room.date_s
