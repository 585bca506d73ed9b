"""The run queue does as a plain list would, whatever is asked of it in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.options import KernelOptions
from rsg_server.order import FirstInFirstOut
from rsg_server.process.actor import Actor, State
from rsg_server.process.process import Process
from rsg_server.process.run_queue import RunQueue
from tests.unit.rsg_server.fakes import Fake, fake

PROCESSES, THREADS = 3, 3
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["ready", "first", "nominate", "withdraw", "stop", "resume", "pick", "put_behind", "put_off", "come_back"]
        ),
        st.integers(0, PROCESSES * THREADS - 1),
    ),
    max_size=60,
)
PLACES = st.lists(st.integers(0, 100), min_size=1, max_size=7)


@dataclass
class Chosen:
    """An order that picks as a function says, which may not be first in, first out."""

    choose: Callable[[int], int]
    allows_handoffs: bool = False

    def place(self, line: Collection[Actor]) -> int:
        return self.choose(len(line)) % len(line)


class Model:
    """What the run queue should be: a list, of actors that are ready or nominated, and the processes that are held."""

    def __init__(self, order: Chosen | FirstInFirstOut) -> None:
        self.order = order
        self.line: list[Actor] = []
        self.held: set[Process] = set()
        self.off: set[Actor] = set()

    def step(self, queue: RunQueue, operation: str, actor: Actor) -> None:
        """Do to the queue and to the model what makes sense for the actor as it is."""
        getattr(self, operation)(queue, actor)

    def _join(self, place: int, actor: Actor, put: Callable[[Actor], None]) -> None:
        if (
            actor not in self.line
            and actor not in self.off
            and actor.process not in self.held
            and actor.state is not State.DEAD
        ):
            actor.state = State.READY
            self.line.insert(place, actor)
            put(actor)

    def ready(self, queue: RunQueue, actor: Actor) -> None:
        self._join(len(self.line), actor, queue.ready)

    def first(self, queue: RunQueue, actor: Actor) -> None:
        self._join(0, actor, queue.first)

    def nominate(self, queue: RunQueue, actor: Actor) -> None:
        if actor.state is State.PARKED and actor not in self.line and actor.process not in self.held:
            self.line.append(actor)
            queue.nominate(actor)
            assert actor.is_nominated

    def withdraw(self, queue: RunQueue, actor: Actor) -> None:
        self.line = [other for other in self.line if other is not actor]
        self.off.discard(actor)
        queue.withdraw(actor)
        actor.state = State.DEAD

    def stop(self, queue: RunQueue, actor: Actor) -> None:
        taken = [other for other in self.line if other.process is actor.process]
        self.line = [other for other in self.line if other.process is not actor.process]
        self.held.add(actor.process)
        actor.process.record.stopped = True
        assert queue.stop(actor.process) == taken
        for other in taken:  # as the kernel does: who was nominated looks later
            assert not other.is_nominated
            other.state = State.READY

    def resume(self, queue: RunQueue, actor: Actor) -> None:
        if actor.process in self.held:
            self.held.discard(actor.process)
            actor.process.record.stopped = False
            joined = [other for other in actor.process.actors if other.state is State.READY]
            self.line += joined
            self.off.difference_update(joined)
            queue.resume(actor.process)

    def pick(self, queue: RunQueue, actor: Actor) -> None:
        if not self.line:
            return
        expected = self.line.pop(self.order.place(self.line))
        found = queue.pick()
        assert found is expected
        found.state, found.is_nominated = State.PARKED, False

    def put_off(self, queue: RunQueue, actor: Actor) -> None:
        if self.line:
            found = self.line.pop(self.order.place(self.line))
            assert queue.pick() is found
            found.state, found.is_nominated = State.READY, False
            self.off.add(found)
            queue.put_off(found)

    def come_back(self, queue: RunQueue, actor: Actor) -> None:
        if actor in self.off and actor.process not in self.held:
            self.off.remove(actor)
            self.line.append(actor)
        queue.come_back(actor)

    def put_behind(self, queue: RunQueue, actor: Actor) -> None:
        count = actor.number % (len(self.line) + 1)
        self.line = self.line[count:] + self.line[:count]
        queue.put_behind(count)


def actors_of(world: Fake) -> list[Actor]:
    """Parked actors of several processes."""
    found = []
    for _ in range(PROCESSES):
        first = world.born()
        threads = [first, *(world.kernel.threads.new(first.process) for _ in range(THREADS - 1))]
        for made in threads:
            actor, descriptor = made if isinstance(made, tuple) else (made, -1)
            if descriptor >= 0:
                world.descriptors.append(descriptor)
            actor.state = State.PARKED
            found.append(actor)
    return found


@given(steps=STEPS, places=PLACES)
@pytest.mark.parametrize("is_fifo", [True, False])
def test_whatever_is_done_the_line_is_that_of_the_model(is_fifo: bool, steps: list[tuple[str, int]], places: list[int]) -> None:
    order = FirstInFirstOut() if is_fifo else Chosen(lambda ready: places[ready % len(places)])
    with fake() as world:
        actors, queue, model = actors_of(world), RunQueue(order), Model(order)
        for operation, which in steps:
            model.step(queue, operation, actors[which])
            assert list(queue) == model.line
            assert {actor for actor in actors if queue.is_put_off(actor)} == model.off
            assert (len(queue), bool(queue)) == (len(model.line), bool(model.line))
            assert all(actor in model.line for actor in actors if actor.is_nominated)
        for actor in actors:
            actor.state = State.PARKED  # an actor that is dead already would not be released


def test_an_order_picks_any_of_those_that_are_ready() -> None:
    places = iter([2, 0, 1, 0])
    with fake(KernelOptions(order=Chosen(lambda ready: next(places)))) as world:
        actors = [world.born() for _ in range(4)]
        for actor in actors:
            actor.state = State.PARKED
            world.kernel.parking.make_ready(actor)
        assert [world.kernel.run_queue.pick() for _ in actors] == [actors[2], actors[0], actors[3], actors[1]]


@pytest.mark.parametrize(("order", "may_move"), [(FirstInFirstOut(), True), (Chosen(lambda ready: ready - 1), False)])
def test_under_an_order_without_handoffs_no_shim_moves_the_clock_alone(order: FirstInFirstOut | Chosen, may_move: bool) -> None:
    with fake(KernelOptions(order=order)) as world:
        world.kernel.shared.clock.advance_to(700)
        world.set_lookahead()
        assert (world.shim.page.lookahead_ns > 700) is may_move
