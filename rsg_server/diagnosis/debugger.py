"""Holds a new program before its first instruction, while it has the turn, until a debugger has attached to it.

Virtual time does not move while the program is held, nor while the debugger stops a thread that has the turn. So no
time-out of an emulated program expires while a person debugs.
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
"""How long (real seconds) the server waits for a debugger to notice the end of a process."""
Answer = TypeVar("Answer")
"""The type of the server's answer to a HELLO. Debugger stores such an answer and does not use its contents."""


@dataclass(slots=True)
class Debugger(Generic[Answer]):
    """Holds the first program named `name` on `host` ("" for any host), and calls `attach` with its process.

    `has_come` says whether a debugger has attached, even if the debugger has detached again before the server looked
    whether the process is traced.
    """

    host: str
    name: str
    attach: Callable[[Process], None]
    has_come: Callable[[], bool] = lambda: False
    process: Process | None = None  # the actor of the held program
    held: tuple[Actor, Answer] | None = field(default=None, repr=False)

    def holds(self, actor: Actor, reply: Answer) -> bool:
        """Return whether a program that has just sent HELLO is the one to hold.

        The answer to the HELLO of the held program is stored in this object.
        """
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
        """Return whether a debugger traces the held process now."""
        return self.process is not None and self.process.status_fields().get("TracerPid", "0") != "0"

    def await_release(self, process: Process) -> None:
        """Wait until the debugger has noticed the end of a dead process; before that, its parent cannot wait for it
        (ptrace(2)).
        """
        end = time.monotonic() + RELEASE_TIMEOUT_S
        while process is self.process and self.is_attached() and time.monotonic() < end:
            time.sleep(0.01)

    def may_go(self) -> bool:
        """Return whether the held program may go on: a debugger traces it or has traced it, or the program has died."""
        return self.is_attached() or self.has_come() or self.process is None or not self.process.status_fields()

    def release(self) -> tuple[Actor, Answer]:
        """Forget the held program, and return its actor with the answer to HELLO that the actor waits for."""
        assert self.held is not None
        held, self.held = self.held, None
        return held
