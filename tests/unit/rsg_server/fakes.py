"""A kernel without real processes: the test speaks in their place through their channels."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address

from rsg_server._native import lib

from rsg_server.diagnosis.descriptors import Descriptors
from rsg_server.errors import SimunixError
from rsg_server.event_log import EventLog
from rsg_server.handlers.table import Handler, Reply
from rsg_server.kernel import Kernel
from rsg_server.options import KernelOptions
from rsg_server.platform.host import Host
from rsg_server.platform.star import star
from rsg_server.process.actor import Actor, State
from rsg_server.process.host_state import Command, Launcher
from rsg_server.protocol import NEVER, Wait
from rsg_server.wiring import turns_of
from tests.unit.rsg_server.shim import Shim

HOSTS = tuple(Host(f"h{index}", (ip_address(f"10.0.0.{index + 1}"),)) for index in range(2))


class NoLauncher:
    """Starts nothing."""

    def spawn(self, host_name: str, command: Command, channel_fd: int) -> int:
        raise SimunixError("nothing can be started here")

    def power_off(self, host_name: str) -> None:
        pass

    def cgroups(self, host_name: str) -> int:
        raise SimunixError("no cgroups here")

    def inject(self, host_name: str, thread: int, descriptor: int) -> int:
        raise SimunixError("nobody can be traced here")

    def release(self, host_name: str, thread: int) -> None:
        pass

    def files_of(self, host_name: str) -> str:
        """The files of this computer."""
        return ""

    def why_killed(self, host_name: str, pid: int) -> str:
        return ""

    def wait_status(self, host_name: str, pid: int) -> int:
        return -1


class Fake:
    """One kernel with its turn loop; `born` makes processes of one thread that have said hello and hold the turn."""

    def __init__(
        self, options: KernelOptions | None = None, hosts: Sequence[Host] = HOSTS, launcher: Launcher | None = None
    ) -> None:
        self.kernel = Kernel(star(hosts), options or KernelOptions(), EventLog(None), launcher or NoLauncher())
        self.loop = turns_of(self.kernel)
        self.shim = Shim(self.kernel.shared)
        self.channels: dict[int, socket.socket] = {}
        self.descriptors: list[int] = []

    def born(self, host: str = "h0", pid: int = 0) -> Actor:
        """A process; pids are unique per kernel, as their own PID namespace would number them."""
        process = self.kernel.births.new_process(self.kernel.hosts[host], None, "/bin/fake")
        actor, theirs = self.kernel.threads.new(process)
        self.channels[actor.number] = socket.socket(fileno=theirs)
        process.pid = pid or 100 + process.number
        process.host.processes[process.pid] = process
        actor.tid = process.pid
        actor.owes_message = False
        actor.state = State.RUNNING
        return actor

    def park(
        self, actor: Actor, wait: Wait, *, a: int = 0, b: int = 0, c: int = 0, blocked: int = 0, deadline_ns: int = NEVER
    ) -> Actor:
        """Have an actor wait, for ever unless there is a deadline."""
        self.kernel.parking.park(actor, self.kernel.waits.make(int(wait), 0, deadline_ns, blocked, a, b, c, self.kernel.now_ns))
        return actor

    def pass_time(self, until_ns: int) -> None:
        """Let what is due happen, each at its moment, up to a moment of virtual time."""
        while (due := self.kernel.timeline.next_ns) is not None and due <= until_ns:
            self.kernel.clock.advance_to(due)
            self.kernel.timeline.run_due(due)

    def send(self, actor: Actor, message: bytes) -> tuple[object, ...] | None:
        """Have a message handled as if the actor had sent it; returns the values of the reply, if there is one."""
        reply = self.loop._handle(actor, message)
        if not isinstance(reply, Reply):
            return None
        if reply.newborn is not None and not reply.fds:
            self.loop._introduce(reply.newborn)
        self.loop.answers.packer.pack(reply.values)  # what cannot be packed cannot be sent
        if reply.close:
            self.descriptors.extend(reply.fds)
        return reply.values

    def park_at_slot(self, actor: Actor, wait: Wait, *, deadline_ns: int, word: int = 0, bitset: int = 0) -> None:
        """Have an actor wait at its slot for what its siblings may bring, as it says in the outbox."""
        self.shim.leave_park(actor.slot, int(wait), deadline_ns, word, bitset)
        self.kernel.shared.outbox.take()
        struct, self.loop.holder = self.loop.core.struct, actor
        struct.speaker = actor.record
        self.loop._act(lib.turn_heard(struct, 1))
        self.loop.holder = None

    def hand_off(self, runner: Actor, digest: int, news: bytes) -> bool:
        """Have an actor say in the outbox that it has got the turn without the server; whether that can be.

        `news` are a struct simunix_handoff for each sibling whose wait has changed.
        """
        self.shim.leave_news(digest, news)
        self.kernel.shared.outbox.take()
        why = self.loop.core.told(runner)
        if why is not None:
            self.loop._lied(runner, why)
        return why is None

    def describer(self) -> Descriptors:
        """What describes descriptors in reports."""
        return Descriptors(self.kernel.processes, self.kernel.sockets)

    def wake_ready(self) -> None:
        """Ask what has become ready, as the turn loop does between two turns."""
        self.loop._parts.wakeups.wake_ready()

    def set_lookahead(self) -> None:
        """Say what the holder may do without the server, as the turn loop does when it replies."""
        self.loop.core.allow()

    def close(self) -> None:
        """Release everything, as the server does at its end."""
        for fd in self.descriptors:
            os.close(fd)
        for channel in self.channels.values():
            channel.close()
        self.shim.close()
        self.kernel.close()


def _handlers() -> dict[int, Handler]:
    """The handlers of a kernel that is closed: what they take can be asked, but they cannot be run."""
    world = Fake()
    world.close()
    return world.loop.handlers


HANDLERS = _handlers()
"""By operation, which arguments each message has; the handlers are not to be run."""


@contextmanager
def fake(
    options: KernelOptions | None = None, hosts: Sequence[Host] = HOSTS, launcher: Launcher | None = None
) -> Iterator[Fake]:
    """A kernel for one test, closed at its end."""
    made = Fake(options, hosts, launcher)
    try:
        yield made
    finally:
        made.close()
