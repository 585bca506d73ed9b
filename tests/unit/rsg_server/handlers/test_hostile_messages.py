"""Messages whose harm shows later, or that touch others: each of these must not end or hang the server."""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator

import msgpack
import pytest

from rsg_server.errors import SimunixError
from rsg_server.process.actor import Actor, State
from rsg_server.process.process import Process
from rsg_server.protocol import Op, Wait
from rsg_server.sockets.kinds.stream import StreamSocket
from tests.unit.rsg_server.fakes import Fake, fake
from tests.unit.rsg_server.forms import interpreted_only

MAX64 = 2**64 - 1
ANY, LOOPBACK = bytes(4), b"\x7f\0\0\1"
H1 = bytes([10, 0, 0, 2])
WAITING = 350
"""A pair takes 278 single bytes with the buffer that Linux gives it by default."""


@pytest.fixture
def world() -> Iterator[Fake]:
    with fake() as made:
        yield made


def ask(world: Fake, actor: Actor, operation: Op, *arguments: object) -> tuple[object, ...]:
    reply = world.send(actor, msgpack.packb([int(operation), *arguments]))
    return () if reply is None else reply


def open_socket(world: Fake, actor: Actor, family: int, kind: int) -> tuple[int, socket.socket]:
    """A simulated socket's number and the application's end of its pair."""
    (number, *_) = ask(world, actor, Op.SOCKET, family, kind, 0)
    assert isinstance(number, int) and number > 0
    return number, socket.socket(fileno=world.descriptors.pop())


def go_on(world: Fake, moments: int = 50) -> None:
    """Let what is ready and what is due happen, as the turn loop does when nobody runs."""
    kernel = world.kernel
    for _ in range(moments):
        world.wake_ready()
        due = kernel.timeline.next_ns
        if due is None:
            return
        kernel.clock.advance_to(due)
        kernel.timeline.run_due(kernel.now_ns)
        world.set_lookahead()


def test_a_real_process_that_is_gone_already_when_it_is_to_be_killed(world: Fake) -> None:
    """Its last message is read after its end; somebody has already waited for it, so its pid may be another's."""
    actor = world.born()
    with subprocess.Popen(["true"]) as real:
        actor.process.open_pidfd(real.pid)
    world.send(actor, b"\xc1")
    assert actor.process.dead


def test_no_descriptor_is_left_for_a_fork(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    actor = world.born()

    def refuse(*_: object) -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "socketpair", refuse)
        for operation, arguments in ((Op.FORK, (1,)), (Op.SOCKET, (4, 1, 0))):
            assert ask(world, actor, operation, *arguments) == (-errno.ENFILE,)
    assert "ulimit -n" in " ".join(world.kernel.warner.counts) and not actor.process.dead


def test_no_descriptor_is_left_for_a_served_connection(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SYN is dropped, as by a listener whose queue is full, and comes again."""
    actor = world.born()
    (listener, end), (client, app) = (open_socket(world, actor, 4, 1) for _ in range(2))
    ask(world, actor, Op.BIND, listener, 4, ANY, 80, 0)
    ask(world, actor, Op.LISTEN, listener, 5)

    def refuse(*_: object) -> None:
        raise OSError(24, "Too many open files")

    with end, app:
        with monkeypatch.context() as patch:
            patch.setattr(socket, "socketpair", refuse)
            ask(world, actor, Op.CONNECT, client, 4, LOOPBACK, 80, 0)
        go_on(world)
        assert pending_at(world, listener) == 1
    assert "ulimit -n" in " ".join(world.kernel.warner.counts)


def test_a_fork_that_fails_in_the_server_leaves_no_process_behind(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that nobody can bury: the run would never be done."""
    actor = world.born()

    def refuse(*_: object) -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "socketpair", refuse)
        assert ask(world, actor, Op.FORK, 1) == (-errno.ENFILE,)
    assert set(world.kernel.processes) == {actor.process.number}


@interpreted_only
def test_a_full_disk_is_not_the_fault_of_who_happens_to_be_logged(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    actor = world.born()
    number, app = open_socket(world, actor, 4, 1)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with app, monkeypatch.context() as patch:
        patch.setattr(world.kernel.log, "event", refuse)
        with pytest.raises((OSError, SimunixError)):
            ask(world, actor, Op.LISTEN, number, 5)
    assert not actor.process.dead


def test_a_datagram_from_a_socket_of_no_known_family(world: Fake) -> None:
    actor = world.born()
    (number, *_) = ask(world, actor, Op.SOCKET, 7, 2, 0)
    if isinstance(number, int) and number > 0:
        with socket.socket(fileno=world.descriptors.pop()) as app:
            app.send(struct.pack("=BBH16s20x", 4, 0, 53, LOOPBACK) + b"?")
            go_on(world)


@pytest.mark.parametrize("port", [-1, 65536, 2**40])
def test_a_port_that_no_port_can_be(world: Fake, port: int) -> None:
    actor = world.born()
    receiver, far = open_socket(world, actor, 4, 2)
    ask(world, actor, Op.BIND, receiver, 4, ANY, 53, 0)
    sender, near = open_socket(world, actor, 4, 2)
    with far, near:
        ask(world, actor, Op.BIND, sender, 4, ANY, port, 0)
        near.send(struct.pack("=BBH16s20x", 4, 0, 53, LOOPBACK) + b"?")
        go_on(world)


def many_pending(world: Fake, actor: Actor) -> tuple[int, socket.socket]:
    """A listener on port 80 at which WAITING connections wait; the clients' ends stay open in `world.descriptors`."""
    listener, end = open_socket(world, actor, 4, 1)
    ask(world, actor, Op.BIND, listener, 4, ANY, 80, 0)
    ask(world, actor, Op.LISTEN, listener, 4096)
    for _ in range(WAITING):
        (client, *_) = ask(world, actor, Op.SOCKET, 4, 1, 0)
        assert ask(world, actor, Op.CONNECT, client, 4, LOOPBACK, 80, 0)[0] == -115
    go_on(world)
    return listener, end


def pending_at(world: Fake, listener: int) -> int:
    """How many connections wait at a listener."""
    found = world.kernel.sockets.all[listener]
    assert isinstance(found, StreamSocket)
    return len(found.queue.pending)


def test_more_connections_wait_than_a_pair_can_hold_tokens_for(world: Fake) -> None:
    listener, end = many_pending(world, world.born())
    with end:
        assert pending_at(world, listener) == WAITING


def test_all_that_wait_are_accepted_by_who_waits_for_readiness(world: Fake) -> None:
    """As accept_one in csrc/shim/sys/socket/accept.c does: wait until readable, ask, take a token."""
    actor = world.born()
    listener, end = many_pending(world, actor)
    accepted = 0
    with end:
        end.setblocking(False)
        while select.select([end], [], [], 0)[0]:
            assert int(str(ask(world, actor, Op.ACCEPT, listener)[0])) > 0
            os.close(world.descriptors.pop())
            end.recv(1)
            accepted += 1
            go_on(world)
    assert accepted == WAITING


def test_a_listener_whose_application_reads_no_more(world: Fake) -> None:
    """shutdown(SHUT_RD) of a listening socket: then its token cannot be sent."""
    actor = world.born()
    listener, end = open_socket(world, actor, 4, 1)
    client, app = open_socket(world, actor, 4, 1)
    with end, app:
        ask(world, actor, Op.BIND, listener, 4, ANY, 80, 0)
        ask(world, actor, Op.LISTEN, listener, 5)
        ask(world, actor, Op.SHUTDOWN, listener, socket.SHUT_RD)
        end.shutdown(socket.SHUT_RD)
        ask(world, actor, Op.CONNECT, client, 4, LOOPBACK, 80, 0)
        go_on(world)


def connected(world: Fake, here: Actor, there: Actor) -> tuple[tuple[int, socket.socket], tuple[int, socket.socket]]:
    """A client on `here` and what accepted it on `there` (h1)."""
    listener, end = open_socket(world, there, 4, 1)
    ask(world, there, Op.BIND, listener, 4, ANY, 80, 0)
    ask(world, there, Op.LISTEN, listener, 5)
    client, app = open_socket(world, here, 4, 1)
    ask(world, here, Op.BIND, client, 4, ANY, 1023, 0)
    ask(world, here, Op.CONNECT, client, 4, H1, 80, 0)
    go_on(world)
    (served, *_) = ask(world, there, Op.ACCEPT, listener)
    assert isinstance(served, int) and served > 0
    served_app = socket.socket(fileno=world.descriptors.pop())
    end.close()
    go_on(world)
    return (client, app), (served, served_app)


def test_a_close_with_unread_data_while_much_is_still_under_way(world: Fake) -> None:
    """The RST overtakes bytes in flight, so they reach a socket that has been reset."""
    here, there = world.born("h0"), world.born("h1")
    (_, app), (_, served) = connected(world, here, there)
    with app:
        app.send(b"never read")
        go_on(world)
        served.setblocking(False)
        assert served.send(b"x" * 100_000) > 50_000
        served.close()
        go_on(world)
        assert not here.process.dead


def test_a_port_whose_last_connection_was_reset_can_be_bound_again(world: Fake) -> None:
    here, there = world.born("h0"), world.born("h1")
    (_, app), (_, served) = connected(world, here, there)
    app.send(b"never read")
    go_on(world)
    served.close()
    go_on(world)
    app.close()
    go_on(world)
    again, fresh = open_socket(world, here, 4, 1)
    with fresh:
        assert not world.kernel.sockets.binding.ports_of(world.kernel.hosts["h0"]).owners
        assert ask(world, here, Op.BIND, again, 4, ANY, 1023, 0) == (0,)
    assert not here.process.dead


def test_nobody_moves_another_process_s_futex_waiters(world: Fake) -> None:
    victim, attacker = world.born(), world.born()
    ask(world, victim, Op.PARK, int(Wait.FUTEX), 202, -1, 0, 0, 64, 0xFFFFFFFF)
    ask(world, attacker, Op.REQUEUE, -victim.process.number, 64, 5, 5, 0, 10)
    (number, *_) = ask(world, sibling_of(world, victim), Op.WAKE, 0, 64, 1, 0xFFFFFFFF)
    assert number == 1


def sibling_of(world: Fake, actor: Actor) -> Actor:
    """Another thread of its process, running."""
    made, channel = world.kernel.threads.new(actor.process)
    os.close(channel)
    made.owes_message, made.state = False, State.RUNNING
    return made


def test_nobody_takes_another_process_s_pid(world: Fake) -> None:
    victim, attacker = world.born(pid=7), world.born(pid=8)
    ask(world, attacker, Op.HELLO, 1, 7, 7, "x")
    assert world.kernel.hosts["h0"].processes.get(7) is victim.process


def test_an_orphan_that_is_not_born_yet_is_not_its_own_parent(world: Fake) -> None:
    parent = world.born()
    (number, *_) = ask(world, parent, Op.FORK, 1)
    child = world.kernel.actors[number].process  # type: ignore[index]
    ask(world, parent, Op.EXIT, 9)
    assert child.parent is not child


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGCONT])
def test_a_stop_that_was_announced_but_not_sent(world: Fake, monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    """The process is where it was, and to find that out does not take thousands of looks."""
    with subprocess.Popen(["sleep", "100"]) as real:
        actor, victim = world.born(), world.born()
        victim.process.open_pidfd(real.pid)
        if number == signal.SIGCONT:
            real.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, real.pid, os.WSTOPPED)
            victim.process.stopped = True
        looks = 0
        read = Process.status_fields

        def counted(process: Process) -> dict[str, str]:
            nonlocal looks
            looks += 1
            return read(process)

        with monkeypatch.context() as patch:
            patch.setattr(Process, "status_fields", counted)
            assert ask(world, actor, Op.SIGNAL, victim.process.pid, 0, int(number)) == (0,)
        assert victim.process.stopped is (number == signal.SIGCONT)
        assert looks <= 200
        real.kill()


def test_a_process_that_says_it_stops_and_does_not(world: Fake) -> None:
    with subprocess.Popen(["sleep", "100"]) as real:
        actor = world.born()
        actor.process.open_pidfd(real.pid)
        assert ask(world, actor, Op.STOPPING, int(signal.SIGTSTP), -1) == (0,)
        assert not actor.process.stopped
        real.kill()


@pytest.mark.parametrize("how", ["reset", "shut down"])
@pytest.mark.parametrize("closed", [True, False])
def test_what_is_kept_of_ended_connections(world: Fake, how: str, closed: bool) -> None:
    """As long as the application can ask about them; it closes its end without our being told."""
    here, there = world.born("h0"), world.born("h1")
    (client, app), (served, served_app) = connected(world, here, there)
    table = world.kernel.sockets
    table._sweep_at = 1
    if how == "reset":
        served_app.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        ask(world, there, Op.SOCKET_SET, served, 1, 13, b"\1\0\0\0\0\0\0\0")
        served_app.close()
    else:
        ask(world, here, Op.SHUTDOWN, client, socket.SHUT_RDWR)
        app.shutdown(socket.SHUT_RDWR)
    go_on(world)
    if closed:
        app.close()
        served_app.close()
    go_on(world)
    again, fresh = open_socket(world, here, 4, 1)
    assert (client in table.all) is not closed
    assert again in table.all
    for one in (fresh, app, served_app):
        one.close()
