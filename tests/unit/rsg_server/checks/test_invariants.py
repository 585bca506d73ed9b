"""Each check says which invariant was broken, and by whom, when a test breaks it on purpose."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from rsg_server._native import ffi, lib

from rsg_server.checks.invariants import VARIABLE, InvariantError
from rsg_server.process.actor import Actor, State
from rsg_server.wiring import checks_of
from tests.unit.rsg_server.fakes import Fake, fake


def actors_of(world: Fake) -> list[Actor]:
    """The holder of the turn, an actor that is parked, and one that is ready."""
    found = [world.born() for _ in range(3)]
    for actor in found[1:]:
        actor.state = State.PARKED
    world.kernel.parking.make_ready(found[2])
    world.set_lookahead()
    return found


def go_back(world: Fake, actors: list[Actor]) -> None:
    world.shim.page.now_ns = 0


def look_far(world: Fake, actors: list[Actor]) -> None:
    world.shim.page.lookahead_ns = 5000


def look_past_event(world: Fake, actors: list[Actor]) -> None:
    world.kernel.run_queue.pick()
    actors[2].state = State.PARKED
    world.kernel.timeline.add(2000, lambda: None)
    world.shim.page.lookahead_ns = 5000


def park_holder(world: Fake, actors: list[Actor]) -> None:
    actors[0].state = State.PARKED


def stop_holder(world: Fake, actors: list[Actor]) -> None:
    actors[0].process.stopped = True


def run_two(world: Fake, actors: list[Actor]) -> None:
    actors[1].state = State.RUNNING


def queue_twice(world: Fake, actors: list[Actor]) -> None:
    world.kernel.run_queue.ready(actors[2])


def queue_parked(world: Fake, actors: list[Actor]) -> None:
    world.kernel.run_queue.ready(actors[1])


def lose_ready(world: Fake, actors: list[Actor]) -> None:
    world.kernel.run_queue.pick()


def queue_dead(world: Fake, actors: list[Actor]) -> None:
    world.kernel.threads.end(actors[1])
    world.kernel.run_queue.ready(actors[1])


def swap_slots(world: Fake, actors: list[Actor]) -> None:
    actors[1].slot, actors[2].slot = actors[2].slot, actors[1].slot


def break_timeline(world: Fake, actors: list[Actor]) -> None:
    for moment in (3000, 4000):
        world.kernel.timeline.add(moment, lambda: None)
    world.kernel.timeline.core.entries[0].at_ns = 5000


def break_timer_queue(world: Fake, actors: list[Actor]) -> None:
    for actor, moment in zip(actors[1:], (3000, 4000), strict=True):
        world.kernel.shared.deadlines.add(actor.slot, moment)
    lib.timer_queue_of(world.kernel.shared.deadlines._address).alarms[0].deadline = 5000


def queue_runner(world: Fake, actors: list[Actor]) -> None:
    world.kernel.futexes.add(actors[0], (-actors[0].process.number, 64), 1)


def forget_key(world: Fake, actors: list[Actor]) -> None:
    world.kernel.futexes.add(actors[1], (-actors[1].process.number, 64), 1)
    actors[1].record.waits_at = ffi.NULL


CASES: list[tuple[Callable[[Fake, list[Actor]], None], str]] = [
    (go_back, r"invariant 1 .*: virtual time went back from 1000 ns to 0 ns; report this as a bug$"),
    (look_far, r"invariant 2 .*: {0} may move the clock up to 5000 ns while {2} are to run"),
    (look_past_event, r"invariant 2 .*: {0} may move the clock up to 5000 ns past the event at 2000 ns"),
    (park_holder, r"invariant 4 .*: {0} has the turn and is parked"),
    (stop_holder, r"invariant 4 .*: {0} has the turn, and its process is stopped or frozen"),
    (run_two, r"invariant 4 .*: {1} runs while {0} has the turn"),
    (queue_twice, r"invariant 5 .*: the run queue: {2} joins it and stands there"),
    (queue_parked, r"invariant 5 .*: {1} is parked and is in the run queue"),
    (lose_ready, r"invariant 5 .*: {2} is ready and is not in the run queue"),
    (queue_dead, r"invariant 5 .*: the run queue: actor \d+, which is dead, joins it"),
    (swap_slots, r"invariant 4 .*: {1} waits at slot \d+, which is {2}'s"),
    (break_timeline, r"invariant 5 .*: the timeline is no heap"),
    (break_timer_queue, r"invariant 5 .*: the timer queue has slot \d+ \(.*\) in a wrong place"),
    (queue_runner, r"invariant 4 .*: {0} is queued at a futex and running"),
    (forget_key, r"invariant 4 .*: {1} is queued at a futex at which it does not wait"),
]


@pytest.mark.parametrize(("breaks", "says"), CASES, ids=[breaks.__name__ for breaks, _ in CASES])
def test_what_is_broken_is_named(breaks: Callable[[Fake, list[Actor]], None], says: str) -> None:
    with fake() as world:
        actors, checks = actors_of(world), checks_of(world.kernel)
        world.kernel.shared.clock.advance_to(1000)
        checks.given(actors[0])
        breaks(world, actors)
        with pytest.raises(InvariantError, match=says.format(*(re.escape(repr(actor)) for actor in actors))):
            checks.given(actors[0])


@pytest.mark.parametrize(("value", "is_on"), [("1", True), ("", False), (None, False)])
def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch, value: str | None, is_on: bool) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    with fake() as world:
        assert (world.loop.check is not None) is is_on
