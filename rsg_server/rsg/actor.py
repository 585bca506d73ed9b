"""The actors of Remote SimGrid, here called participants, because in the server an actor is any emulated thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rsg_server.rsg.errors import Code

if TYPE_CHECKING:
    from rsg_server.platform.host import Host
    from rsg_server.process.actor import Actor
    from rsg_server.rsg.activity import Activity, Wait
    from rsg_server.rsg.mailbox import Mailbox
    from rsg_server.rsg.synchro import Mutex


class Participant:
    """An actor in SimGrid's sense: a thread with a name, a number, and a host on which it computes and communicates.

    The host is that of its process, unless the actor was created for another host or has migrated. The thread's sockets
    and files remain those of the process's own host.
    """

    def __init__(self, pid: int, parent_pid: int, name: str, host: Host) -> None:
        self.pid = pid
        self.parent_pid = parent_pid
        self.name = name
        self.host = host
        self.thread: Actor | None = None  # None until the thread has connected
        self.is_daemon = False
        self.is_suspended = False
        self.is_over = False
        self.is_killed = False
        # what the actor waits for, while one of its operations has not been answered: words, or an object with a method
        # `words`; else ""
        self.waits_for: str | Wait = ""
        self.abandon: Callable[[], None] | None = None  # a function that removes the actor from the queue in which it waits
        self.held: tuple[Code, bytes] | None = None  # an answer that is stored until the actor is resumed, or asks again
        self.activities: dict[Activity, None] = {}
        self.staged = bytearray()
        self.received = b""
        self.joiners: list[Participant] = []
        self.creator: Participant | None = None  # the actor that waits until this one has connected
        self.greeting = b""  # the answer that the actor gets when all actors begin
        self.receives_at: list[Mailbox] = []
        self.mutexes: dict[Mutex, None] = {}
        self.handles: dict[int, None] = {}
        # for a helper, which is no actor itself: the actor on whose behalf this thread waits
        self.helps: Participant | None = None
        self.helpers: dict[int, Participant] = {}  # by the helper's number; see RSG_HELP

    def __repr__(self) -> str:
        if self.helps is not None:
            return repr(self.helps)
        return f"{self.name}({self.pid})@{self.host.name}"

    def acts_for(self, who: Participant) -> bool:
        """Return whether a wait of this participant counts as a wait of `who`: it is that actor, or it helps that actor."""
        return self is who or self.helps is who
