"""How far the actor that has the turn may move the clock without the server."""

from __future__ import annotations

from rsg_server.process.actor import State
from rsg_server.shared.clock import FOREVER_NS
from rsg_server.turn.allowance import SOLO_LIMIT_NS
from tests.unit.rsg_server.fakes import fake


def test_an_actor_that_is_alone_may_move_the_clock_up_to_the_next_event() -> None:
    with fake() as world:
        page = world.shim.page
        world.set_lookahead()
        assert (page.lookahead_ns, page.event_ns) == (SOLO_LIMIT_NS, FOREVER_NS)
        world.kernel.timeline.add(5_000, lambda: None)
        world.set_lookahead()
        assert (page.lookahead_ns, page.event_ns) == (5_000, 5_000)


def test_the_limit_bounds_the_lookahead_but_is_no_event() -> None:
    with fake() as world:
        world.loop.limit_ns = 3_000
        world.set_lookahead()
        assert (world.shim.page.lookahead_ns, world.shim.page.event_ns) == (3_000, FOREVER_NS)


def test_an_actor_that_is_not_alone_moves_no_clock_and_has_a_quantum() -> None:
    with fake() as world:
        page = world.shim.page
        other = world.born()
        other.state = State.PARKED
        world.kernel.parking.make_ready(other)
        page.quantum_ns = 700
        world.set_lookahead()
        assert (page.lookahead_ns, page.event_ns) == (0, 700)
        world.kernel.clock.advance_to(900)  # the quantum is over: the event is the next nanosecond, never one that is past
        world.set_lookahead()
        assert page.event_ns == 901
