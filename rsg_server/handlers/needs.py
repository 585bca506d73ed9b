"""What handlers need of the kernel that composes the server (rsg_server.kernel), as protocols.

Handlers stand above processes, sockets, faults and diagnosis, which they import, and below the turn, which they do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from rsg_server.process import needs as process
from rsg_server.sockets import needs as sockets

if TYPE_CHECKING:
    from rsg_server.diagnosis.debugger import Debugger
    from rsg_server.diagnosis.traces import Traces
    from rsg_server.faults.faults import Faults
    from rsg_server.handlers.table import Reply
    from rsg_server.process.actor import Actor, Parked
    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process
    from rsg_server.process.timerfds import TimerFds
    from rsg_server.sockets.pair import SimulatedSocket


class Readiness(Protocol):
    """The epoll in which the server watches actors, processes and its ends of sockets (rsg_server.turn.readiness)."""

    def __contains__(self, target: Actor | Process | SimulatedSocket) -> bool: ...
    def watch(self, descriptor: int, target: Actor | Process | SimulatedSocket, events: int = ...) -> None:
        """Have a descriptor reported as an actor, a process or a socket."""

    def modify(self, descriptor: int, target: SimulatedSocket, events: int) -> None:
        """Report other events of a descriptor."""

    def unwatch(self, descriptor: int, target: Process | SimulatedSocket) -> None:
        """Forget a descriptor; nothing happens if it is not watched."""

    def forget(self, actor: Actor) -> None:
        """Forget the private epoll of an actor that has ended."""

    def take_over(self, actor: Actor) -> None:
        """Report the private epoll of an actor that has ended as this actor's from now on."""

    def changed(self) -> None:
        """Say that something may have become ready, so that the turn loop asks the kernel before it gives the next turn."""


class Preemption(process.Preemption, Protocol):
    """Turns that were taken back (rsg_server.turn.preemption)."""

    def gave_back(self, actor: Actor) -> None:
        """Account for a turn that an actor has given back because the server wanted it."""


class Waits(Protocol):
    """What begins and forgets the wait of an actor."""

    def park(self, actor: Actor, parked: Parked, is_in_timer_queue: bool = False) -> None:
        """Take the turn from an actor until something of `parked` happens."""

    def unpark(self, actor: Actor) -> None:
        """Forget what an actor waits for."""


class Kernel(Waits, process.Kernel, sockets.Kernel, Protocol):
    """Everything that a message may ask for."""

    handed_to: Actor | None
    """The actor that has got the turn without the server; None unless a handler has just learnt of it."""
    on_birth: Callable[[Actor], None]
    """Receives the first message of a forked child before its parent goes on."""

    @property
    def hosts(self) -> dict[str, HostState]: ...
    @property
    def readiness(self) -> Readiness: ...
    @property
    def preemption(self) -> Preemption: ...
    @property
    def timerfds(self) -> TimerFds: ...
    @property
    def faults(self) -> Faults: ...
    @property
    def traces(self) -> Traces | None: ...
    @property
    def debugger(self) -> Debugger[Reply] | None: ...
    @property
    def calls_by_warning(self) -> dict[int, Counter[str]]: ...
    @property
    def queue_notifies(self) -> dict[int, tuple[Process, int]]: ...

    def warn(self, text: str, about: str | None = None) -> None:
        """Show the user a warning, once (or once of all that are about the same)."""
