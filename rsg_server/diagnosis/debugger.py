"""Holds one new program at its very start, while the program has the turn, until a debugger has attached to it.

Virtual time does not move meanwhile, nor whenever the debugger stops the holder of the turn: no timeout expires.
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
"""How long a debugger may take to see the end of a dead process, real time."""
Answer = TypeVar("Answer")
"""The type of the server's answer to a HELLO, which this file keeps and does not look into."""


@dataclass(slots=True)
class Debugger(Generic[Answer]):
    """Holds the first program called `name` on `host` ("" for any), and calls `attach` with its process.

    `has_come` knows of a debugger that may have left again before anybody looked whether the process is traced.
    """

    host: str
    name: str
    attach: Callable[[Process], None]
    has_come: Callable[[], bool] = lambda: False
    process: Process | None = None  # the held one, from then on
    held: tuple[Actor, Answer] | None = field(default=None, repr=False)

    def holds(self, actor: Actor, reply: Answer) -> bool:
        """Whether a program that has just said HELLO is the one to hold. If so, its answer is kept back."""
        process = actor.process
        if self.process is not None or self.host not in ("", process.host.name):
            return False
        if self.name != os.path.basename(process.program) and not (process.started and self.name == process.label):
            return False
        self.process = process
        self.held = (actor, reply)
        self.attach(process)
        return True

    def is_attached(self) -> bool:
        """Whether a debugger traces the held process now."""
        return self.process is not None and self.process.status_fields().get("TracerPid", "0") != "0"

    def await_release(self, process: Process) -> None:
        """Wait until the debugger has seen the end of a dead process: only then can its parent wait for it (ptrace(2))."""
        end = time.monotonic() + RELEASE_TIMEOUT_S
        while process is self.process and self.is_attached() and time.monotonic() < end:
            time.sleep(0.01)

    def may_go(self) -> bool:
        """Whether the held program is to be answered: a debugger traces it, or has done so, or it is gone."""
        return self.is_attached() or self.has_come() or self.process is None or not self.process.status_fields()

    def release(self) -> tuple[Actor, Answer]:
        """Take out the held actor, and the answer that the actor waits for."""
        assert self.held is not None
        held, self.held = self.held, None
        return held
