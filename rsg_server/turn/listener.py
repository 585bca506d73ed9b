"""Receives from the actor that has the turn, which the shims may have handed on without the server (csrc/shim/turn/)."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from rsg_server.protocol import MESSAGE_MAX
from rsg_server.shared.boxes import IN_BOX
from rsg_server.shared.outbox import IN_OUTBOX

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.turn.needs import ListenerKernel

PATIENCE_NS = 100_000_000
"""How long the server listens before it returns to the turn loop, unless the runner has been preempted before."""
CPU_TIMER_PATIENCE_NS = 2_000_000
"""How long it listens to a process with a timer or limit of CPU time, which expires while the process computes."""
_FIRST_SLICE_NS = 6_000_000
"""After how long the listener looks whether the runner has died, which rings no doorbell; the time doubles with each look.

Longer than a tick of the kernel (4 ms at 250 Hz): a time-out that comes before the next tick has the hardware's timer set for
each wait, which took 2.9 µs of 8 for a hand-over and back.
"""


class Listener:
    """Receives messages; `speaker` is the actor that sent the last one."""

    def __init__(self, kernel: ListenerKernel) -> None:
        self._kernel = kernel
        shared = kernel.shared
        self._clock, self._turn, self._doorbell = shared.clock, shared.turn, shared.doorbell
        self._boxes, self._outbox = shared.boxes, shared.outbox
        self._seen = 0
        self.speaker: Actor | None = None

    def prepare(self) -> None:
        """Begin to listen, before an actor gets the turn: what is rung from now on comes from that actor, or from whom it has
        handed the turn on to.
        """
        self._turn.allow_remote_handoffs(self._clock.may_move_alone and self._kernel.debugger is None)
        self._outbox.clear()
        self._seen = self._doorbell.rings

    def runner(self, holder: Actor) -> Actor:
        """The actor that has the turn now; the server gave the turn to the holder."""
        running = self._turn.runner_slot
        return holder if running == 0 else self._kernel.slots.get(running) or holder

    def receive(self, holder: Actor) -> bytes:
        """Receive the next message; empty if its sender has died, IN_OUTBOX or IN_BOX if it lies there.

        Raises BlockingIOError after some silence.
        """
        self.speaker = holder
        doorbell, outbox = self._doorbell, self._outbox
        waited_ns, slice_ns = 0, min(_FIRST_SLICE_NS, self._patience_ns())
        while True:
            if doorbell.rings == self._seen:
                doorbell.wait(self._seen, slice_ns)
                waited_ns, slice_ns = waited_ns + slice_ns, 2 * slice_ns
            self._seen = doorbell.rings
            self.speaker = self.runner(holder)
            if outbox.is_asked:
                outbox.take()
                return IN_OUTBOX
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
        if self.speaker.process.cpu_limit is not None or self.speaker.process.has_cpu_timers:
            return CPU_TIMER_PATIENCE_NS
        return self.speaker.spinner.patience_ns if self.speaker.spinner is not None else PATIENCE_NS
