"""Whatever an emulated process sends: at worst that process ends, and the server goes on."""

from __future__ import annotations

import subprocess
from typing import Any

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from rsg_server.options import KernelOptions
from rsg_server.process.actor import Actor, State
from rsg_server.protocol import Op, Wait, Wake, WarningKind
from tests.unit.rsg_server.fakes import HANDLERS, Fake, fake

scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.binary() | st.text()
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=6
)
BY_KIND: dict[str, st.SearchStrategy[Any]] = {
    # small numbers are those of actors, sockets, signals, families, ports; the rest are the edges of 64 bits
    "i": st.integers(-2, 10) | st.sampled_from([101, 102, -101, 2**31, 2**62, -(2**63)]) | st.integers(-(2**63), 2**64 - 1),
    "b": st.sampled_from([bytes(4), b"\x7f\0\0\1", bytes([10, 0, 0, 2]), bytes(16), bytes(15) + b"\1"])
    | st.binary(max_size=20),
    "s": st.text(max_size=8),
}


def fitting(operation: int) -> st.SearchStrategy[list[Any]]:
    """Messages of one operation whose arguments have the right types."""
    return st.tuples(st.just(operation), *(BY_KIND[kind] for kind in HANDLERS[operation].shape)).map(list)


requests = st.sampled_from(sorted(HANDLERS)).flatmap(fitting)
misfits = st.tuples(st.sampled_from(sorted(HANDLERS)), st.lists(anything, max_size=7)).map(lambda pair: [pair[0], *pair[1]])


def is_killed(world: Fake, actor: Actor) -> bool:
    return actor.process.dead and actor.state is State.DEAD and actor.process.number not in world.kernel.processes


def test_every_operation_has_a_handler_and_no_handler_is_without_one() -> None:
    assert set(HANDLERS) == {int(operation) for operation in Op}
    for operation, handler in HANDLERS.items():
        assert set(handler.shape) <= set("ibs"), Op(operation).name


@given(st.binary(max_size=64))
@example(b"")
@example(b"\xc1")
@example(b"\xdd\xff\xff\xff\xff")
@example(b"\x91" * 1000)
@example(b"\xd6\xff\0\0\0\0")
def test_any_bytes_end_their_sender_at_worst(message: bytes) -> None:
    with fake() as world:
        actor, bystander = world.born(), world.born()
        world.send(actor, message)
        assert not bystander.process.dead


@given(anything)
@example({1: 2})
@example([])
@example([{}])
@example([[]])
@example([0])
@example([float("nan")])
def test_what_is_not_a_request_kills_its_sender_and_says_so(value: Any) -> None:
    known = isinstance(value, list) and value and isinstance(value[0], int | float) and value[0] in HANDLERS
    with fake() as world:
        actor, bystander = world.born(), world.born()
        reply = world.send(actor, msgpack.packb(value))
        if not known:
            assert reply is None and is_killed(world, actor) and not bystander.process.dead
            (warning,) = world.kernel.warner.counts
            assert "malformed message" in warning


@given(misfits)
def test_arguments_that_do_not_fit_kill_their_sender(message: list[Any]) -> None:
    with fake() as world:
        actor = world.born()
        fits = HANDLERS[message[0]].fits(message[1:])
        reply = world.send(actor, msgpack.packb(message))
        if not fits:
            assert reply is None and is_killed(world, actor)


@given(st.lists(st.tuples(st.integers(0, 2), requests), max_size=12))
@example([(0, [10, 1 << 62, 0])])
def test_no_sequence_of_requests_raises_out_of_the_server(steps: list[tuple[int, list[Any]]]) -> None:
    """Three processes on two hosts, each sending what fits whenever it holds the turn."""
    with fake() as world:
        actors = [world.born("h0"), world.born("h0"), world.born("h1")]
        for index, request in steps:
            actor = actors[index]
            if actor.state in (State.RUNNING, State.READY):
                world.send(actor, msgpack.packb(request))
        for actor in actors:
            # A thread may end while others of its process, announced before, live on; never the other way round.
            assert not actor.process.dead or actor.state is State.DEAD
            assert (actor.state is State.DEAD) == (actor.number not in world.kernel.actors)
        queue = list(world.kernel.run_queue)
        assert all(actor.state is State.READY for actor in queue)


def test_a_malformed_message_kills_the_real_process() -> None:
    with fake() as world, subprocess.Popen(["sleep", "100"]) as real:
        actor = world.born()
        actor.process.open_pidfd(real.pid)
        assert world.send(actor, b"\xc1") is None
        assert is_killed(world, actor)
        assert real.wait(5) == -9
        assert not any("was to die" in warning for warning in world.kernel.warner.counts), "only killed after a long wait"


def ask(world: Fake, actor: Actor, operation: Op, *arguments: object) -> tuple[object, ...] | None:
    return world.send(actor, msgpack.packb([int(operation), *arguments]))


def park(world: Fake, actor: Actor, wait: Wait, deadline_ns: int = -1, a: int = 0, b: int = 0, c: int = 0) -> None:
    assert ask(world, actor, Op.PARK, int(wait), 0, deadline_ns, 0, a, b, c) is None


def test_a_sleeper_is_ready_at_its_deadline() -> None:
    with fake() as world:
        actor, kernel = world.born(), world.kernel
        park(world, actor, Wait.TIME, 500)
        assert (actor.state, kernel.timeline.next_ns) == (State.PARKED, 500)
        kernel.clock.advance_to(500)
        kernel.timeline.run_due(500)
        assert list(kernel.run_queue) == [actor] and actor.reply == (int(Wake.TIMEOUT), 0)


@pytest.mark.parametrize("wait", [-1, max(Wait) + 1, 2**40])
def test_a_wait_of_no_known_kind_kills(wait: int) -> None:
    with fake() as world:
        actor = world.born()
        assert ask(world, actor, Op.PARK, wait, 0, -1, 0, 0, 0, 0) is None
        assert is_killed(world, actor)


def test_a_deadline_in_the_past_has_come() -> None:
    with fake() as world:
        actor = world.born()
        park(world, actor, Wait.TIME, 0)
        assert (actor.state, actor.reply) == (State.READY, (int(Wake.TIMEOUT), 0))


def test_a_futex_waiter_is_woken_by_its_sibling() -> None:
    with fake() as world:
        waiter = world.born()
        (number, *_) = ask(world, waiter, Op.FORK, 0) or ()
        sibling = world.kernel.actors[number]  # type: ignore[index]
        park(world, waiter, Wait.FUTEX, a=0, b=4096, c=0xFFFFFFFF)
        assert ask(world, sibling, Op.WAKE, 0, 8192, 1, 0xFFFFFFFF) == (0,)
        assert ask(world, sibling, Op.WAKE, 0, 4096, 1, 0xFFFFFFFF) == (1,)
        assert waiter.state is State.READY and waiter.reply == (int(Wake.READY), 0)


def test_a_signal_wakes_a_sleeper_unless_it_is_blocked() -> None:
    with fake() as world:
        sender, sleeper, deaf = world.born(pid=7), world.born(pid=8), world.born(pid=9)
        park(world, sleeper, Wait.TIME)
        ask(world, deaf, Op.PARK, int(Wait.TIME), 0, -1, 1 << (10 - 1), 0, 0, 0)
        for pid in (8, 9):
            assert ask(world, sender, Op.SIGNAL, pid, 0, 10) == (0,)
        assert (sleeper.state, deaf.state) == (State.READY, State.PARKED)
        assert sleeper.reply[0] == Wake.SIGNAL


def test_a_failed_fork_is_taken_back() -> None:
    with fake() as world:
        parent = world.born()
        for kind in (0, 1):
            (number, *_) = ask(world, parent, Op.FORK, kind) or ()
            assert number in world.kernel.actors
            assert ask(world, parent, Op.FORK_DONE, -11, number) == (0,)
            assert number not in world.kernel.actors
        assert not parent.process.children and not world.kernel.run_queue and not parent.process.dead


def test_a_socket_belongs_to_its_host() -> None:
    with fake() as world:
        own, other = world.born("h0"), world.born("h1")
        (number,) = ask(world, own, Op.SOCKET, 4, 1, 0) or ()
        assert ask(world, other, Op.LISTEN, number, 5) == (-9,)
        assert ask(world, own, Op.BIND, number, 4, bytes(4), 80, 0) == (0,)
        assert ask(world, own, Op.LISTEN, number, 5) == (0,)
        assert ask(world, own, Op.SOCKNAME, number) == (0, 4, bytes(4), 80)


def test_a_timer_tells_what_is_left() -> None:
    with fake() as world:
        actor = world.born()
        assert ask(world, actor, Op.TIMER_SET, 0, 1000, 50, 14, 0, 0) == (0, 0, 0)
        assert ask(world, actor, Op.TIMER_GET, 0) == (0, 1000, 50, 0)
        assert ask(world, actor, Op.TIMER_SET, 0, 0, 0, 14, 0, 0) == (0, 1000, 50)
        assert len(world.kernel.timeline) == 0


def test_the_end_of_a_process_ends_all_its_threads() -> None:
    with fake() as world:
        actor = world.born()
        (number, *_) = ask(world, actor, Op.FORK, 0) or ()
        assert ask(world, actor, Op.EXIT, 256) is None
        assert is_killed(world, actor) and number not in world.kernel.actors and not world.kernel.run_queue
        assert actor.process.exit_status == 256


def test_strict_runs_stop_at_a_warning_with_one_line() -> None:
    with fake(KernelOptions(strict=True)) as world, pytest.raises(SimunixError, match=r"^stopped by --strict: h0: .*refused$"):
        ask(world, world.born(), Op.WARN, int(WarningKind.REFUSED), "call 7")
