"""Waits for descriptors in the actor's private epoll, and waits for room in a descriptor, after which the actor tries
its call again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from rsg_server._native import lib
from rsg_server.process.procfs import epoll_targets
from rsg_server.process.wait import ActorWait, DescriptorWords
from rsg_server.protocol import WAIT_FD
from rsg_server.waits.table import Maker
from rsg_server.waits.words import listed

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process
    from rsg_server.shared.notices import Notices

_TERMINAL: Final[int] = lib.PARK_FD_TERMINAL
_EXCLUSIVE: Final[int] = lib.PARK_FD_EXCLUSIVE
_LOOKED: Final[int] = lib.PARK_FD_LOOKED
_FILE: Final[int] = lib.PARK_FD_FILE
_CHOSEN: Final[int] = lib.PARK_FD_CHOSEN
_FLAG_BITS: Final = 8
_DESCRIPTORS: Final = 1 << 31
"""One more than the highest possible number of a descriptor on Linux."""


class Readiness(Protocol):
    """The part of rsg_server.turn.readiness that these waits use: it says which descriptors are ready."""

    def changed(self) -> None:
        """Note that a descriptor may have become ready, so that the turn loop asks the kernel before it gives the next turn."""


class DescriptorMaker(Maker):
    """Makes waits for descriptors. `at_terminals` maps numbers to actors that wait for the master of a terminal."""

    def __init__(self, readiness: Readiness, notices: Notices, at_terminals: dict[int, Actor]) -> None:
        super().__init__(self.make)
        self.readiness, self.notices, self.at_terminals = readiness, notices, at_terminals

    def make(self, a: int, b: int, c: int) -> ActorWait:
        epoll_fd = c >> _FLAG_BITS
        if not 0 <= epoll_fd < _DESCRIPTORS:
            raise ValueError(f"a wait with descriptor {epoll_fd} as its epoll: no such descriptor")
        return DescriptorWait(self, a, b, c, epoll_fd)


class DescriptorWait(ActorWait):
    """A wait that ends when a descriptor in the actor's private epoll is ready.

    `first_fd` is one of these descriptors. `epoll_fd` is the descriptor of the private epoll in the process, 0 if the
    actor has no epoll. An actor that waits for an epoll instance `is_exclusive` if the instance watches something with
    EPOLLEXCLUSIVE. The watched object is the listening socket with the number `watched`, or, if the object `is_file`,
    the kernel's file of this number. The actor `has_looked` if just now nothing was ready but connections that other
    actors will accept. The server sets `is_chosen` for the actor that it wakes among all that wait for the file.
    """

    __slots__ = (
        "_flags",
        "_maker",
        "epoll_fd",
        "first_fd",
        "has_looked",
        "has_terminal",
        "is_chosen",
        "is_exclusive",
        "is_file",
        "watched",
    )

    def __init__(self, maker: DescriptorMaker, first_fd: int, watched: int, flags: int, epoll_fd: int) -> None:
        super().__init__()
        self._maker, self.first_fd, self.watched, self.epoll_fd, self._flags = maker, first_fd, watched, epoll_fd, flags
        self.has_terminal, self.is_exclusive = flags & _TERMINAL != 0, flags & _EXCLUSIVE != 0
        self.is_file, self.has_looked = flags & _FILE != 0, flags & _LOOKED != 0
        self.is_chosen = flags & _CHOSEN != 0

    def in_core(self) -> tuple[int, int, int, int]:
        return WAIT_FD, self.first_fd, self.watched, self._flags

    def over(self) -> int | None:
        """Return None even after the deadline: a ready descriptor has precedence over the deadline, and only the kernel
        knows whether one is ready.
        """
        return None

    def begin(self, actor: Actor) -> None:
        if self.has_terminal:
            self._maker.at_terminals[actor.number] = actor
        if self.is_file:
            self._maker.notices.tell_exclusive_files()
        self._maker.readiness.changed()  # the descriptor may have become ready since the kernel was last asked

    def watches_terminal(self) -> bool:
        return self.has_terminal

    def epoll_info(self, process: Process) -> str | None:
        return f"/proc/{process.global_pid}/fdinfo/{self.epoll_fd}" if self.epoll_fd else None

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        fds = [fd for fd, _ in epoll_targets(self.epoll_info(actor.process))] or [self.first_fd]
        if self.first_fd in fds:  # the first descriptor of a poll(2)'s list decides
            fds = [self.first_fd, *(fd for fd in fds if fd != self.first_fd)]
        words = [f"{fd} ({descriptors.describe(actor.process, fd)})" for fd in fds]
        return ("descriptor " if len(fds) == 1 else "descriptors ") + listed(words)


class RoomWait(ActorWait):
    """A wait that ends at its deadline. Afterwards the actor tries again whether a descriptor has room."""

    __slots__ = ("fd",)

    def __init__(self, fd: int, b: int, c: int) -> None:
        super().__init__()
        self.fd = fd

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        return f"room at descriptor {self.fd} ({descriptors.describe(actor.process, self.fd)})"
