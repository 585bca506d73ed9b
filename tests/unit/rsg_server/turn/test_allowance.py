"""What the holder of the turn may do without the server."""

from __future__ import annotations

from rsg_server.clock.clock_page import EVENT, FOREVER_NS, LOOKAHEAD, QUANTUM
from rsg_server.process.actor import State
from rsg_server.turn.allowance import SOLO_LIMIT_NS, set_lookahead
from tests.unit.rsg_server.fakes import fake


def test_an_actor_that_is_alone_may_move_the_clock_up_to_the_next_event() -> None:
    with fake() as world:
        words = world.kernel.page.words
        set_lookahead(world.kernel, FOREVER_NS)
        assert (words[LOOKAHEAD], words[EVENT]) == (SOLO_LIMIT_NS, FOREVER_NS)
        world.kernel.timeline.add(5_000, lambda: None)
        set_lookahead(world.kernel, FOREVER_NS)
        assert (words[LOOKAHEAD], words[EVENT]) == (5_000, 5_000)


def test_the_limit_bounds_the_lookahead_but_is_no_event() -> None:
    with fake() as world:
        set_lookahead(world.kernel, 3_000)
        assert (world.kernel.page.words[LOOKAHEAD], world.kernel.page.words[EVENT]) == (3_000, FOREVER_NS)


def test_an_actor_that_is_not_alone_moves_no_clock_and_has_a_quantum() -> None:
    with fake() as world:
        words = world.kernel.page.words
        other = world.born()
        other.state = State.PARKED
        world.kernel.make_ready(other)
        words[QUANTUM] = 700
        set_lookahead(world.kernel, FOREVER_NS)
        assert (words[LOOKAHEAD], words[EVENT]) == (0, 700)
        world.kernel.page.advance_to(900)  # the quantum is over: the event is the next nanosecond, never one that is past
        set_lookahead(world.kernel, FOREVER_NS)
        assert words[EVENT] == 901
