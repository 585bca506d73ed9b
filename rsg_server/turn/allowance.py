"""How far the holder of the turn may move the clock without the server; csrc/turn/listener.c writes the limit for the shims.

Up to `lookahead` the holder may move `now` to the deadlines of the timer queue; while another actor is ready, `lookahead`
is 0 and `event` is at most a quantum after the turn began. rsg_server.shared.clock says how the three relate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rsg_server.order import Order

SOLO_LIMIT_NS: Final = 60 * 10**9
"""How far, in virtual time, an actor that is alone may advance the clock before the server looks again."""


def solo_limit_ns(order: Order) -> int:
    """Return how far an actor that is alone may advance the clock: 0 if only the server knows who runs next.

    This is the one place that turns hand-offs off. Shims hand the turn on, and move the clock, only while `now < lookahead`
    (csrc/shim/turn/handoff.c: may_hand_off), and choose first in, first out. Under another order `lookahead` never passes
    `now`, so every turn comes from the server.
    """
    return SOLO_LIMIT_NS if order.allows_handoffs else 0
