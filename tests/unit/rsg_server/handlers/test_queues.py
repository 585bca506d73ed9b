"""POSIX message queues that were asked for a signal, and what is counted of refused and unknown calls."""

from __future__ import annotations

from rsg_server.process.actor import State
from rsg_server.protocol import Op, Wait, WarningKind
from tests.unit.rsg_server.fakes import fake
from tests.unit.rsg_server.handlers.test_handlers import ask

USR1 = 10


def test_a_message_lets_whoever_asked_look_for_its_signal() -> None:
    with fake() as world:
        asker, sender = world.born(), world.born()
        assert ask(world, asker, Op.QUEUE_NOTIFY, 7, USR1) == (0,)
        assert world.shim.page.queue_notifies == 1
        world.park(asker, Wait.TIME)
        assert ask(world, sender, Op.QUEUE_SENT, 8) == (0,)
        assert asker.state is State.PARKED
        assert ask(world, sender, Op.QUEUE_SENT, 7) == (0,)
        assert asker.state is State.READY


def test_it_is_forgotten_when_taken_back_or_dead() -> None:
    with fake() as world:
        asker, sender = world.born(), world.born()
        for _ in range(2):
            assert ask(world, asker, Op.QUEUE_NOTIFY, 7, USR1) == (0,)
            assert ask(world, asker, Op.QUEUE_NOTIFY, 7, 0) == (0,)
        assert world.shim.page.queue_notifies == 0
        assert ask(world, asker, Op.QUEUE_NOTIFY, 7, USR1) == (0,)
        world.kernel.deaths.reap(asker.process)
        assert ask(world, sender, Op.QUEUE_SENT, 7) == (0,)
        assert world.shim.page.queue_notifies == 0
        assert ask(world, sender, Op.QUEUE_NOTIFY, 7, 65) == (-22,)


def test_calls_are_counted_by_name_and_said_once_per_program() -> None:
    with fake() as world:
        said: list[str] = []
        world.kernel.warner.on_warning.connect(said.append)
        first, second = world.born("h0"), world.born("h1")
        for actor in (first, first, second):
            ask(world, actor, Op.WARN, int(WarningKind.UNKNOWN_SYSCALL), "system call 500")
            ask(world, actor, Op.WARN, int(WarningKind.REFUSED), "futex: an operation that is not simulated")
        ask(world, first, Op.WARN, int(WarningKind.UNKNOWN_SYSCALL), "i386 system call 4")
        assert world.kernel.unknown_calls == {"500": 3, "i386 4": 1}
        assert world.kernel.refused_calls == {"futex": 3}
        assert [line.partition(":")[0] for line in said] == ["h0"] * 3
