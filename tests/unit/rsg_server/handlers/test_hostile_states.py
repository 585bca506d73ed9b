"""Processes that say anything, in any state, and die in any: the server goes on, and what it keeps stays consistent."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from rsg_server.process import channel_pool
from rsg_server.process.actor import State
from rsg_server.process.process import Process
from rsg_server.protocol import Fork, Hello, Op, Wait
from rsg_server.turn.loop import Outcome
from tests.unit.rsg_server.fakes import HANDLERS, HOSTS, Fake
from tests.unit.rsg_server.handlers.test_handlers import requests

LIKELY: list[list[Any]] = [
    [int(Op.SOCKET), 4, 1, 0],
    [int(Op.SOCKET), 4, 2, 0],
    [int(Op.BIND), 1, 4, bytes(4), 80, 0],
    [int(Op.LISTEN), 1, 1],
    [int(Op.CONNECT), 2, 4, b"\x7f\0\0\1", 80, 1],
    [int(Op.CONNECT), 3, 4, bytes([10, 0, 0, 1]), 80, 0],
    [int(Op.ACCEPT), 1],
    [int(Op.SHUTDOWN), 2, 2],
    [int(Op.EPOLL)],
    [int(Op.FORK), int(Fork.THREAD)],
    [int(Op.FORK), int(Fork.PROCESS)],
    [int(Op.FORK), int(Fork.VFORK)],
    [int(Op.FORK_DONE), -11, 0],
    [int(Op.HELLO), int(Hello.NEW_IMAGE), 7, 7, "x"],
    [int(Op.HELLO), int(Hello.FORKED), 8, 8, ""],
    [int(Op.HELLO), int(Hello.THREAD), 7, 9, ""],
    [int(Op.EXEC)],
    [int(Op.SIGNAL), -1, 0, 9],
    [int(Op.SIGNAL), 101, 0, 15],
    [int(Op.STOPPING), 20, -1],
    [int(Op.TIMER_SET), 0, 5, 7, 14, 0, 0],
    [int(Op.TIMER_SET), 1, 5, 7, 10, 3, 0],
    [int(Op.EXIT), 0],
    [int(Op.THREAD_EXIT), 0, 64],
    *([int(Op.PARK), int(wait), 1, deadline, 0, 1, 64, 1] for wait in Wait for deadline in (-1, 1000)),
    [int(Op.WAKE), 0, 64, 9, 1],
]
messages = st.sampled_from(LIKELY).map(msgpack.packb) | requests.map(msgpack.packb) | st.binary(max_size=20)
anybody = st.integers(0, 7)


class HostileProcesses(RuleBasedStateMachine):
    """`channels` are threads' ends, born or not; `ends` are what the server has handed to them."""

    def __init__(self) -> None:
        super().__init__()
        self.saved = channel_pool.RECEIVE_TIMEOUT, Process.open_pidfd
        channel_pool.RECEIVE_TIMEOUT = (0).to_bytes(8, "little") + (1).to_bytes(8, "little")
        Process.open_pidfd = lambda process, pid: None  # type: ignore[method-assign, assignment]  # it would be this test
        self.world = Fake()
        self.channels: list[socket.socket] = []
        self.ends: list[socket.socket] = []
        self.latest_ns = 0

    @initialize()
    def three_are_born(self) -> None:
        for host in (0, 0, 1):
            actor = self.world.born(HOSTS[host].name)
            self.world.kernel.parking.make_ready(actor)
            self.channels.append(self.world.channels.pop(actor.number))
            self.channels[-1].setblocking(False)  # recv_fds does not heed its flags

    @rule(who=anybody, said=st.lists(messages, min_size=1, max_size=6))
    def speak(self, who: int, said: list[bytes]) -> None:
        if who < len(self.channels):
            with contextlib.suppress(OSError):
                for message in said:
                    self.channels[who].send(message, socket.MSG_DONTWAIT)

    @rule(who=anybody)
    def listen(self, who: int) -> None:
        """Take the answers, and what descriptors came with them."""
        if who >= len(self.channels):
            return
        with contextlib.suppress(OSError):
            while True:
                answer, fds, _, _ = socket.recv_fds(self.channels[who], 4096, 4, socket.MSG_DONTWAIT)
                for fd in fds:
                    self.take(fd)
                if not answer:
                    return

    def take(self, fd: int) -> None:
        try:
            end = socket.socket(fileno=fd)
        except OSError:  # the clock page, an epoll, an eventfd
            os.close(fd)
            return
        end.setblocking(False)
        is_channel = end.type == socket.SOCK_SEQPACKET and not end.getpeername()
        (self.channels if is_channel else self.ends).append(end)

    @rule(who=anybody)
    def die(self, who: int) -> None:
        if who < len(self.channels):
            self.channels.pop(who).close()

    @rule(which=anybody, what=st.sampled_from(["send", "burst", "receive", "shut", "close"]))
    def use(self, which: int, what: str) -> None:
        if which >= len(self.ends):
            return
        end = self.ends[which]
        with contextlib.suppress(OSError):
            if what == "send":
                end.send(b"\4\0\0\x50\x7f\0\0\1" + b"x" * 40, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            elif what == "burst":
                while end.send(b"y" * 5000, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL):
                    pass
            elif what == "receive":
                end.recv(100_000, socket.MSG_DONTWAIT)
            elif what == "shut":
                end.shutdown(socket.SHUT_RDWR)
            else:
                self.ends.pop(which).close()

    @rule()
    def go_on(self) -> None:
        self.world.loop.limit_ns = self.world.kernel.now_ns + 10**5
        assert isinstance(self.world.loop.run(0.001), Outcome)

    @invariant()
    def nothing_is_out_of_joint(self) -> None:
        kernel = self.world.kernel
        assert kernel.now_ns >= self.latest_ns
        self.latest_ns = kernel.now_ns
        assert all(actor.state is State.READY and not actor.process.dead for actor in kernel.run_queue)
        assert len(set(kernel.run_queue)) == len(kernel.run_queue), "twice in the queue"
        for number, process in kernel.processes.items():
            assert process.number == number and not process.dead
            assert process.actors or process.pidfd >= 0, "a process without a thread that nobody will bury"
            assert all(child.parent is process and not child.dead for child in process.children)
        for actor in kernel.actors.values():
            assert actor.state is not State.DEAD and actor in actor.process.actors
            assert (actor.state is State.PARKED) <= (actor.parked is not None)
        for actor in kernel.futexes.waiting():
            assert kernel.actors.get(actor.number) is actor, "a dead thread waits at a futex"
        holder = self.world.loop.holder
        assert holder is None or holder.state is State.RUNNING

    def teardown(self) -> None:
        self.world.close()
        for end in [*self.channels, *self.ends]:
            end.close()
        channel_pool.RECEIVE_TIMEOUT, Process.open_pidfd = self.saved  # type: ignore[method-assign]


@pytest.mark.slow
def test_processes_that_say_anything_and_die_in_any_state() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        HostileProcesses,
        settings=settings(max_examples=60, stateful_step_count=30, suppress_health_check=list(HealthCheck), deadline=None),
    )


def test_the_likely_messages_fit() -> None:
    for operation, *arguments in LIKELY:
        assert HANDLERS[operation].fits(arguments), Op(operation).name
