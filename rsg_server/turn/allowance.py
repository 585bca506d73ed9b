"""What the holder of the turn may do without the server: how far it may move the clock, and when it must give the turn back.

Up to `lookahead` the holder may move `now` to the deadlines of the timer queue; while another actor is ready, `lookahead` is 0
and `event` is at most a quantum after the turn began. rsg_server.shared.clock says how the three relate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rsg_server.shared.clock import FOREVER_NS

if TYPE_CHECKING:
    from rsg_server.order import Order
    from rsg_server.turn.needs import AllowanceKernel

SOLO_LIMIT_NS: Final = 60 * 10**9
"""How far, in virtual time, an actor that is alone may advance the clock before the server looks again."""


def solo_limit_ns(order: Order) -> int:
    """How far an actor that is alone may go under an order: nowhere, if only the server knows who runs next.

    This is the one place that turns hand-offs off. Shims hand the turn on, and move the clock, only while `now < lookahead`
    (csrc/shim/turn/handoff.c: may_hand_off), and choose first in, first out. Under another order `lookahead` never passes
    `now`, so every turn comes from the server.
    """
    return SOLO_LIMIT_NS if order.allows_handoffs else 0


def set_lookahead(kernel: AllowanceKernel, limit_ns: int) -> None:
    """Tell the shims how far the holder may go alone, never beyond `limit_ns`, and when something is due."""
    clock, timeline = kernel.shared.clock, kernel.timeline
    now_ns, due = clock.now_ns, timeline.next_ns
    event_ns = FOREVER_NS if due is None else min(due, FOREVER_NS)
    if kernel.run_queue or kernel.rsg.moments.is_unsettled:
        clock.allow(0, min(event_ns, max(kernel.shared.turn.quantum_end_ns, now_ns + 1)))
    else:
        own = timeline.next_own_ns
        clock.allow(min(now_ns + kernel.solo_limit_ns, limit_ns, FOREVER_NS if own is None else own), event_ns)
