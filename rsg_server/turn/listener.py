"""Receives from the actor that has the turn, which the shims may have handed on without the server (csrc/shim/turn/).

Most messages are received by the core (csrc/turn/listener.c); here is heard what comes otherwise: over channels, in boxes, and
from actors that are silent.
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
"""How long the server listens before it returns to the turn loop, unless the runner has been preempted before."""
CPU_TIMER_PATIENCE_NS = 2_000_000
"""How long it listens to a process with a timer or limit of CPU time, which expires while the process computes."""
_FIRST_SLICE_NS = 6_000_000
"""After how long the listener looks whether the runner has died, which rings no doorbell; the time doubles with each look.

The core has the same, FIRST_SLICE_NS in csrc/turn/loop.c, which says why it is as long.
"""


class Listener:
    """Receives messages; `speaker` is the actor that sent the last one."""

    def __init__(self, core: Core, slots: Slots, shared: SharedMemory) -> None:
        self._core, self._slots = core, slots
        self._turn, self._boxes = shared.turn, shared.boxes
        self.speaker: Actor | None = None

    def runner(self, holder: Actor) -> Actor:
        """The actor that has the turn now; the server gave the turn to the holder."""
        running = self._turn.runner_slot
        return holder if running == 0 else self._slots.get(running) or holder

    def receive(self, holder: Actor) -> bytes:
        """Receive the next message; empty if its sender has died, IN_OUTBOX or IN_BOX if it lies there.

        Raises BlockingIOError after some silence.
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
        """Receive the next message; None after some silence, empty if the sender has died or its connection was reset."""
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
