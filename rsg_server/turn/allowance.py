"""Computes how far the actor that has the turn may move virtual time without the server; csrc/turn/listener.c writes
the result for the shims.

Up to `lookahead`, the actor may set `now` to the deadlines of the timer queue. While another actor is ready,
`lookahead` is 0, and `event` is at most a quantum after the turn began. rsg_server.shared.clock explains `now`,
`lookahead` and `event`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rsg_server.order import Order

SOLO_LIMIT_NS: Final = 60 * 10**9
"""How far (virtual ns) an actor may advance the clock while no other is ready, before the server looks again."""


def solo_limit_ns(order: Order) -> int:
    """Return how far (ns) an actor may advance the clock while no other is ready; 0 if only the server knows which
    actor is next. Only this function switches off hand-offs, by which threads give the turn to each other without the
    server. A shim hands the turn on, and moves the clock, only while `now < lookahead` (csrc/shim/turn/handoff.c:
    may_hand_off), and a shim chooses the next thread first in, first out. Under another order `lookahead` never exceeds
    `now`, so every turn comes from the server.
    """
    return SOLO_LIMIT_NS if order.allows_handoffs else 0
