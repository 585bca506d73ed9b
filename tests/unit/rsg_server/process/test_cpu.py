"""Cpu shares a host's cores: against a plain model that steps from one change to the next in exact fractions."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from ipaddress import ip_address
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.clock.timeline import Timeline
from rsg_server.platform.host import Host
from rsg_server.process.actor import Actor, State
from rsg_server.process.cpu import Cpu
from rsg_server.process.host_state import HostState
from rsg_server.process.process import Process
from rsg_server.protocol import Op, Wait, Wake
from rsg_server.shared.clock import Clock
from tests.unit.rsg_server.fakes import Fake, fake
from tests.unit.rsg_server.parts import new_clock, new_parking

NS = 10**9
NOBODY_BLOCKED, NEVER = 0, -1


@dataclass
class World:
    """As much of a kernel as computing needs."""

    cores: int = 1
    speed: float = 1e9
    clock: Clock = field(default_factory=new_clock)
    timeline: Timeline = field(default_factory=Timeline)
    done: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parking = new_parking(self.timeline)
        self.cpu = Cpu(self.clock, self.timeline, self.parking)
        host = Host("h", (ip_address("10.0.0.1"),), self.cores, speeds_flops=(self.speed,))
        self.process = Process(1, HostState(host), None, "/bin/fake", seed=0, nofile=(1024, 1024))

    def actor(self, number: int) -> Actor:
        actor = Actor(number, self.process, None)  # type: ignore[arg-type]
        actor.state = State.PARKED
        return actor

    def run_until(self, moment_ns: int) -> None:
        while (due := self.timeline.next_ns) is not None and due <= moment_ns:
            self.clock.advance_to(due)
            self.timeline.run_due(due)
            while self.parking.run_queue:
                actor = self.parking.run_queue.pick()
                assert actor.reply[0] == Wake.READY
                self.done[actor.number] = due
        self.clock.advance_to(moment_ns)


def modelled(cores: int, speed: int, jobs: list[tuple[int, int]]) -> list[Fraction]:
    """When each (start in ns, flops) is done, in ns."""
    now, left = Fraction(0), {index: Fraction(flops) for index, (_, flops) in enumerate(jobs)}
    done: dict[int, Fraction] = {}
    while left:
        running = [index for index in left if jobs[index][0] <= now]
        starts = [Fraction(jobs[index][0]) for index in left if jobs[index][0] > now]
        rate = Fraction(speed * min(cores, len(running)), NS * max(1, len(running)))
        ends = [now + left[index] / rate for index in running]
        then = min(starts + ends)
        for index in running:
            left[index] -= rate * (then - now)
            if left[index] == 0:
                done[index] = then
                del left[index]
        now = then
    return [done[index] for index in range(len(jobs))]


@given(
    st.integers(1, 4),
    st.sampled_from([10**6, 10**9, 37 * 10**8]),
    st.lists(st.tuples(st.integers(0, 5 * NS), st.integers(1, 10**10)), min_size=1, max_size=8),
)
def test_completions_are_those_of_the_model(cores: int, speed: int, jobs: list[tuple[int, int]]) -> None:
    world = World(cores, float(speed))
    for index, (start_ns, flops) in sorted(enumerate(jobs), key=lambda entry: entry[1][0]):
        world.run_until(start_ns)
        world.cpu.start(world.actor(index), flops)
    world.run_until(10**15)
    for index, expected in enumerate(modelled(cores, speed, jobs)):
        assert abs(world.done[index] - expected) <= 2 + 2 * len(jobs)


def test_alone_it_takes_flops_divided_by_speed() -> None:
    world = World(4, 2e9)
    world.cpu.start(world.actor(1), 3 * 10**9)
    world.run_until(10 * NS)
    assert world.done == {1: 1_500_000_000}


def test_twice_as_many_as_cores_take_twice_as_long() -> None:
    world = World(cores=2)
    for number in range(4):
        world.cpu.start(world.actor(number), 10**9)
    world.run_until(10 * NS)
    assert world.done == dict.fromkeys(range(4), 2 * NS)


@pytest.mark.parametrize(("cores", "slice_ns"), [(1, 750_000), (2, 1_500_000), (4, 2_250_000), (8, 3_000_000), (64, 3_000_000)])
def test_a_thread_computes_for_a_slice_while_all_cores_are_in_use(cores: int, slice_ns: int) -> None:
    world = World(cores)
    host = world.process.host.host
    assert world.cpu.slice_ns(host) == 0
    for number in range(cores):
        assert world.cpu.slice_ns(host) == 0
        world.cpu.start(world.actor(number), 10**9)
    assert world.cpu.slice_ns(host) == slice_ns
    world.run_until(10 * NS)
    assert world.cpu.slice_ns(host) == 0


def test_a_stopped_process_does_not_compute_and_leaves_the_core_to_others() -> None:
    world = World()
    first, second = world.actor(1), world.actor(2)
    world.cpu.start(first, 10**9)
    world.cpu.start(second, 10**9)
    world.run_until(NS)  # half of each is done
    world.cpu.pause([first])
    world.run_until(3 * NS)
    world.cpu.resume([first])
    world.cpu.resume([first])  # as SIGCONT to one that runs
    world.run_until(10 * NS)
    assert world.done == {2: 1_500_000_000, 1: 3_500_000_000}


def test_ended_early_it_says_what_is_left() -> None:
    world = World()
    world.cpu.start(world.actor(1), 10**9)
    world.run_until(NS // 4)
    assert world.cpu.end(world.actor(1)) == 750_000_000
    assert world.cpu.end(world.actor(1)) == 0
    world.run_until(10 * NS)
    assert world.done == {}


def test_sixty_four_threads_on_sixteen_cores_take_four_times_as_long_as_sixteen() -> None:
    ends = []
    for threads in (16, 64):
        world = World(cores=16)
        for number in range(threads):
            world.cpu.start(world.actor(number), 10**9)
        world.run_until(10 * NS)
        assert len(set(world.done.values())) == 1
        ends.append(world.done[0])
    assert ends == [NS, 4 * NS]


def test_nice_counts_where_cores_are_short() -> None:
    """As getpriority(2) of the kernel says it: 20 - nice."""
    world = World()
    world.cpu.start(world.actor(1), 1024 * 10**6, 20)
    world.cpu.start(world.actor(2), 335 * 10**6, 15)
    world.run_until(10 * NS)
    assert world.done == {1: 1_359_000_000, 2: 1_359_000_000}


def test_pinned_threads_leave_other_cores_alone_and_may_be_moved_while_they_compute() -> None:
    world = World(cores=2)
    first, second, third = (world.actor(number) for number in (1, 2, 3))
    first.affinity = second.affinity = 0b01
    for actor in (first, second, third):
        world.cpu.start(actor, 2 * 10**9)
    world.run_until(NS)
    second.affinity = 0b10
    world.cpu.moved(second)
    world.cpu.moved(first)  # nothing has changed
    world.run_until(10 * NS)
    # for a second the first two have half a core each; then all three have two thirds, until the third is done
    assert world.done == {3: 2_500_000_000, 1: 3 * NS, 2: 3 * NS}


def compute(world: Fake, flops: int) -> Any:
    actor = world.born()
    message = msgpack.packb([int(Op.PARK), int(Wait.COMPUTE), 157, NEVER, NOBODY_BLOCKED, flops, 0, 0])
    assert world.send(actor, message) is None
    return actor


def test_a_signal_wakes_who_computes_with_the_rest() -> None:
    with fake() as world:
        actor = compute(world, 10**9)
        world.kernel.signals.notice(actor.process, 15)
        assert actor.state is State.READY
        assert actor.reply == (int(Wake.SIGNAL), 10**9)


def test_who_dies_computing_leaves_nothing_behind() -> None:
    with fake() as world:
        actor = compute(world, 10**9)
        assert world.kernel.timeline.next_ns == NS
        world.kernel.threads.end(actor)
        assert world.kernel.timeline.next_ns is None


@pytest.mark.parametrize("flops", [1, 2**61])
def test_any_amount_can_be_asked_for(flops: int) -> None:
    with fake() as world:
        actor = compute(world, flops)
        assert world.kernel.timeline.next_ns == pytest.approx(flops)
        assert actor.parked is not None
        assert actor.parked.describe(actor, world.describer()) == f"the end of its computing, {flops} flops"
