"""Gives the turn loop access to the core (the server's C code in csrc/turn/), which knows who has the turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rsg_server._native import ffi, lib
from rsg_server.order import FirstInFirstOut
from rsg_server.process.actor import Actor, actor_of
from rsg_server.shared.clock import FOREVER_NS
from rsg_server.turn.allowance import solo_limit_ns

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.event_log import EventLog
    from rsg_server.order import Order
    from rsg_server.process.life.threads import Threads
    from rsg_server.process.parking import Parking
    from rsg_server.process.slots import Slots
    from rsg_server.rsg.moments import Moments
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.turn.readiness import Readiness

LIES: Final = {
    lib.HANDOFFS_TOO_MANY: "more handoffs than the outbox holds",
    lib.HANDOFFS_OF_NOBODY: "handoffs of a slot that nobody has",
    lib.HANDOFFS_OF_ANOTHER_PROCESS: "handoffs of another process",
    lib.HANDOFFS_TWICE: "handoffs that name a slot twice",
    lib.HANDOFFS_OF_ONE_THAT_CANNOT_RUN: "handoffs of an actor that was neither parked nor running",
    lib.HANDOFFS_WITHOUT_THE_HOLDER: "handoffs, none of them of the actor that had the turn",
    lib.HANDOFFS_OF_ANOTHER_WAIT: "handoffs with a wait that siblings may not end",
}
"""Texts for the reasons why reported hand-offs (turns given without the server) are impossible, by enum handoffs_lie."""


class Core:
    """The struct turn_core of a server. The objects that the constructor gets must live as long as this object."""

    def __init__(
        self,
        order: Order,
        shared: SharedMemory,
        timeline: Timeline,
        slots: Slots,
        parking: Parking,
        readiness: Readiness,
        log: EventLog,
        moments: Moments,
        threads: Threads,
    ) -> None:
        self._parts = (shared, timeline, slots, parking, readiness, log)  # kept, since the struct points to their memory
        self._moments = moments
        core = self.struct = ffi.gc(lib.turn_core_new(), lib.turn_core_free)
        core.shared, core.outbox, core.slots = shared.address, shared.outbox.core, slots.core
        core.queue, core.timeline, core.parking = parking.run_queue.core, timeline.core, parking.core
        core.readiness, core.log = readiness.core, log.core
        core.limit_ns, core.solo_limit_ns = FOREVER_NS, solo_limit_ns(order)
        core.asks_order = type(order) is not FirstInFirstOut
        threads.on_end.connect(self._ended)

    def _ended(self, actor: Actor) -> None:
        if self.holder is actor:
            self.holder = None

    def forbid_handoffs(self) -> None:
        """Forbid hand-offs (turns that threads give each other): from the next turn on, every turn comes from the
        server.
        """
        self.struct.solo_limit_ns = 0

    @property
    def holder(self) -> Actor | None:
        """The actor to which the server has given the turn; None if no actor has it."""
        record = self.struct.holder
        return actor_of(record) if record else None

    @holder.setter
    def holder(self, holder: Actor | None) -> None:
        self.struct.holder = ffi.NULL if holder is None else holder.record

    @property
    def actor(self) -> Actor:
        """The actor that an event of the core is about."""
        return actor_of(self.struct.actor)

    @property
    def speaker(self) -> Actor:
        """The actor that has sent the last message."""
        return actor_of(self.struct.speaker)

    @property
    def which(self) -> int:
        """The number that an event of the core is about: that of a timeline event, of a slot, or of a reason."""
        which: int = self.struct.which
        return which

    @property
    def is_unsettled(self) -> bool:
        """Whether the moment of the next event of Remote SimGrid still has to be computed."""
        return self._moments.is_unsettled

    def allow(self) -> None:
        """Write into shared memory how far the actor that gets the turn may move the clock, and begin to listen for its
        message.

        The limits are `lookahead` and `event`; rsg_server.shared.clock explains them.
        """
        lib.turn_allow(self.struct, self._moments.is_unsettled)

    def catch_up(self, runner: Actor) -> bool:
        """Take over the hand-offs (turns given without the server) from the journal in shared memory; False if they are
        impossible.
        """
        return not lib.handoffs_catch_up(self.struct, runner.record)

    def told(self, runner: Actor) -> str | None:
        """Take over the hand-offs that the outbox lists. Return the reason why they are impossible, or None."""
        return LIES.get(lib.handoffs_told(self.struct, runner.record, self.struct.outbox))
