"""Receives messages from the actor that has the turn. Threads may have given the turn to each other without the server.

The core receives most messages (csrc/turn/listener.c). This module receives the others: over channels, in boxes, and
from actors that have been silent for long.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from rsg_server._native import lib
from rsg_server.protocol import MESSAGE_MAX
from rsg_server.shared.boxes import IN_BOX
from rsg_server.shared.outbox import IN_OUTBOX

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.slots import Slots
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.turn.core import Core

PATIENCE_NS = 100_000_000
"""How long (ns) the server listens before it returns to the turn loop, unless the actor was preempted before."""
CPU_TIMER_PATIENCE_NS = 2_000_000
"""How long (ns) the server listens to a process with a timer or limit of CPU time, which may expire while it computes."""
_FIRST_SLICE_NS = 6_000_000
"""After how long (ns) the listener checks whether the actor with the turn has died, since a death rings no doorbell.
The time doubles with each check.

The core has the same constant, FIRST_SLICE_NS in csrc/turn/loop.c, with the reason for its length.
"""


class Listener:
    """Receives messages. `speaker` is the actor that has sent the last one."""

    def __init__(self, core: Core, slots: Slots, shared: SharedMemory) -> None:
        self._core, self._slots = core, slots
        self._turn, self._boxes = shared.turn, shared.boxes
        self.speaker: Actor | None = None

    def runner(self, holder: Actor) -> Actor:
        """Return the actor that has the turn now: the one that got it from the server, or one to which another thread
        has given it.
        """
        running = self._turn.runner_slot
        return holder if running == 0 else self._slots.get(running) or holder

    def receive(self, holder: Actor) -> bytes:
        """Return the next message: b"" if its sender has died, IN_OUTBOX or IN_BOX if the message is in shared memory.

        Raises BlockingIOError if no message has come after a while.
        """
        self.speaker = holder
        core = self._core.struct
        waited_ns, slice_ns = 0, min(_FIRST_SLICE_NS, self._patience_ns())
        while True:
            if core.has_listened:
                core.has_listened = 0
            elif lib.turn_hear(core, slice_ns):
                self.speaker = self._core.speaker
                return IN_OUTBOX
            waited_ns, slice_ns = waited_ns + slice_ns, 2 * slice_ns
            self.speaker = self.runner(holder)
            if self.speaker.process.has_boxes and self._boxes.is_asked(self.speaker.slot):
                return IN_BOX
            try:
                return self.speaker.channel.recv(MESSAGE_MAX, socket.MSG_DONTWAIT)
            except BlockingIOError:
                if waited_ns >= self._patience_ns():
                    raise

    def receive_now(self, holder: Actor) -> bytes | None:
        """Return the next message: None if none has come after a while, b"" if the sender has died or its connection
        was reset.
        """
        try:
            return self.receive(holder)
        except BlockingIOError:
            return None
        except ConnectionResetError:
            return b""

    def _patience_ns(self) -> int:
        assert self.speaker is not None
        if self.speaker.process.is_timed:
            return CPU_TIMER_PATIENCE_NS
        return self.speaker.spinner.patience_ns if self.speaker.spinner is not None else PATIENCE_NS
