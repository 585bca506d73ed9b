"""Handles PARK, by which an actor gives the turn back and waits until something has happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import Handler, Reply, handled
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.parking import Parking
    from rsg_server.process.wait import ActorWait
    from rsg_server.shared.clock import Clock
    from rsg_server.waits.table import Waits


class ParkHandlers:
    """Handles PARK, which comes over the actor's channel or in the outbox (shared memory)."""

    def __init__(self, waits: Waits, clock: Clock, parking: Parking) -> None:
        self._waits, self._clock, self._parking = waits, clock, parking
        self.count: Callable[[Actor, Sequence[int]], None] | None = None
        """If it is set, it is called for each PARK in the outbox, to count them (rsg_server.turn.call_counts)."""

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled({Op.PARK: self.park})

    def park(self, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
        """Let the sender wait; the reply comes with its next turn.

        [kind of wait, system call, deadline, blocked signals, a, b, c] -> [reason of the wake, value]. The meaning of
        a, b and c depends on the kind of wait.
        """
        wait, syscall, deadline, blocked, a, b, c = arguments
        return self._park(actor, self._waits.make(wait, syscall, deadline, blocked, a, b, c, self._clock.now_ns))

    def park_at_slot(self, actor: Actor, arguments: tuple[int, ...]) -> Reply | None:
        """Let an actor wait that has written its PARK into the outbox; the answer comes at its slot.

        The fields of struct simunix_park -> [reason of the wake, value].
        """
        if not actor.slot:
            raise ValueError("a park in the outbox of an actor that has no slot")
        if self.count is not None:
            self.count(actor, arguments)
        wait, syscall, deadline, blocked, a, b, c, siblings = arguments
        actor.answer_at_slot = True
        now_ns = self._clock.now_ns
        return self._park(actor, self._waits.make(wait, syscall, deadline, blocked, a, b, c, now_ns, bool(siblings)))

    def _park(self, actor: Actor, wait: ActorWait) -> Reply | None:
        """Let an actor wait, unless what it waits for has happened already. An actor that yields is ready at once."""
        told = wait.prepare(actor)
        if told is not None:
            # the charge of CPU time may have reached the process's limit, which ends the process
            return None if actor.process.dead else Reply(told)
        reason = wait.over()
        if reason is None:
            self._parking.park(actor, wait)
        else:
            actor.reply = (reason, 0)
            self._parking.make_ready(actor)
        return None
