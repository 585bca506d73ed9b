"""Holds one new program at its very start, with the turn in its hands, until a debugger has attached to it.

Virtual time stands meanwhile, and whenever the debugger has stopped the holder of the turn: nothing is missed or times out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process


RELEASE_TIMEOUT_S = 10.0
Answer = TypeVar("Answer")
"""What the server answers a HELLO with; the debugger only keeps it."""


@dataclass(slots=True)
class Debugger(Generic[Answer]):
    """The first program called `name`, on `host` ("" for any), is held; `on_held` is told which process it is."""

    host: str
    name: str
    on_held: Callable[[Process], None]
    process: Process | None = None  # the one that was found
    held: tuple[Actor, Answer] | None = field(default=None, repr=False)

    def holds(self, actor: Actor, reply: Answer) -> bool:
        """Whether a program that has just said HELLO is the one; its answer is kept back then."""
        process = actor.process
        if self.process is not None or self.host not in ("", process.host.name):
            return False
        if self.name != os.path.basename(process.program) and not (process.started and self.name == process.label):
            return False
        self.process = process
        self.held = (actor, reply)
        self.on_held(process)
        return True

    def is_attached(self) -> bool:
        """Whether some debugger traces the process now."""
        return self.process is not None and self.process.status_fields().get("TracerPid", "0") != "0"

    def await_release(self, process: Process) -> None:
        """A dead process is its parent's to wait for only once the debugger has seen its end."""
        end = time.monotonic() + RELEASE_TIMEOUT_S
        while process is self.process and self.is_attached() and time.monotonic() < end:
            time.sleep(0.01)

    def may_go(self) -> bool:
        """Whether the held program is to be answered: a debugger is there, or there is nothing left to debug."""
        return self.is_attached() or self.process is None or not self.process.status_fields()

    def release(self) -> tuple[Actor, Answer]:
        """The actor and the answer that it waits for."""
        assert self.held is not None
        held, self.held = self.held, None
        return held
