"""The base class of waits: what all kinds have in common, and what the server asks of any wait.

Invariant: code that lets an actor (thread) wait, wakes it, kills it or reports on it uses the methods of `ActorWait`,
and does not ask for the kind of a wait. The kinds themselves are in rsg_server/waits/.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Final, Protocol

from rsg_server._native import lib
from rsg_server.protocol import NEVER, WAKE_TIMEOUT

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process

HAS_SIGNALFD = 1 << (signal.SIGSYS - 1)
"""A flag in a mask of blocked signals: the process has a signalfd, so the actor looks at every signal, also a blocked
one.

The flag is SIGSYS's bit, which is free: no mask ever blocks SIGSYS."""


KIND_OF_PYTHON: Final[int] = lib.KIND_OF_PYTHON


class DescriptorWords(Protocol):
    """Describes descriptors in words; rsg_server.diagnosis.descriptors implements it."""

    def describe(self, process: Process, fd: int) -> str:
        """Return a few words about a descriptor of a process, and about its other end."""


class ActorWait:
    """The wait of one actor. A subclass for each kind says what begins the wait, what ends it, and who may end it.

    `since_ns`, the wait's beginning, and `deadline_ns` are virtual time; a deadline below 0 means that there is none.
    `blocked` are the signals that do not end the wait, a bit each. With `siblings_may_wake` other threads of the
    process may end the wait without the server. The class is no dataclass, whose generated __init__ would be
    interpreted: one object is made at every wait.
    """

    __slots__ = ("blocked", "deadline_ns", "siblings_may_wake", "since_ns", "syscall")

    def __init__(self) -> None:
        self.syscall, self.deadline_ns, self.blocked, self.since_ns, self.siblings_may_wake = 0, NEVER, 0, 0, False

    def set_terms(self, syscall: int, deadline_ns: int, blocked: int, since_ns: int, siblings_may_wake: bool) -> None:
        """Set what a message says about a wait of any kind, at the wait's beginning, or when the actor goes on waiting
        for the same.
        """
        self.syscall, self.deadline_ns, self.blocked, self.since_ns = syscall, deadline_ns, blocked, since_ns
        self.siblings_may_wake = siblings_may_wake

    def in_core(self) -> tuple[int, int, int, int]:
        """Return the kind of the wait and three values, which describe the wait in C (struct turn_wait)."""
        return KIND_OF_PYTHON, 0, 0, 0

    # The course of a wait

    def prepare(self, actor: Actor) -> tuple[int, int] | None:
        """Return None if there is something to wait for; else the reason and the value that the actor gets at once.

        In the second case the actor keeps the turn. Raises ValueError for a wait that no shim asks for.
        """
        return None

    def over(self) -> int | None:
        """Return the reason why the wait is over before it has begun, else None.

        If the wait is over, the actor is added to the run queue.
        """
        return WAKE_TIMEOUT if 0 <= self.deadline_ns <= self.since_ns else None

    def begin(self, actor: Actor) -> None:
        """Start what the actor waits for; the actor has given the turn back by now.

        Raises ValueError for what does not exist.
        """

    def end(self, actor: Actor, reason: int, value: int) -> tuple[int, int]:
        """End what the actor waits for, because it is woken with a reason and a value. Return what the actor gets."""
        return reason, value

    def leave(self, actor: Actor) -> None:
        """Remove the actor from where it waits, without an answer, because it is dead or has the turn.

        A call after `end` has no effect.
        """

    def ends_by_itself(self) -> bool:
        """Return whether `end` and `leave` do something.

        If so, the server's C code leaves the end of the wait to this object.
        """
        return False

    # Events that may end a wait

    def takes(self, bit: int, is_for_all: bool) -> bool:
        """Return whether the actor looks at a signal, given as its bit in a mask.

        With `is_for_all` it looks at a signal that it blocks as well.
        """
        return is_for_all or not self.blocked & bit or bool(self.blocked & HAS_SIGNALFD) or self.wants(bit)

    def wants(self, bit: int) -> bool:
        """Return whether the actor waits for this very signal, as in sigwait(3)."""
        return False

    def open_to(self) -> int:
        """Return the mask of the signals that end the wait although no process of the emulation has sent them."""
        return ~self.blocked

    def is_for_children(self) -> bool:
        """Return whether a child's death, stop or continuation may end the wait."""
        return False

    def is_for_vfork(self) -> bool:
        """Return whether the exec or the end of a vfork(2) child ends the wait."""
        return False

    def is_for_connect(self, socket: int) -> bool:
        """Return whether the wait ends when this socket's connect(2) has an outcome; the socket is given by its number."""
        return False

    # Questions of other parts about a wait

    def computes(self) -> bool:
        """Return whether the actor computes, or only lets others go first, so that /proc shows it as running."""
        return False

    def watches_terminal(self) -> bool:
        """Return whether one of the descriptors that the actor waits for is the master of a terminal."""
        return False

    def epoll_info(self, process: Process) -> str | None:
        """Return the path of the fdinfo file of the private epoll with which the actor waits; None if it waits with none."""
        return None

    def lock_holder(self) -> int:
        """Return the pid of the process that has the record lock for which the actor waits; 0 if it waits for none."""
        return 0

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        """Return a few words that say what the actor waits for, and follow "waits for" in a report."""
        return "the end of its wait"
