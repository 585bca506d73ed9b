"""The private epoll that contains what an actor waits for, and looks for ready descriptors in the middle of a turn."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, handled
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor


class ReadinessHandlers:
    """Handles EPOLL and LOOK. `look` wakes the actors for which something has become ready."""

    def __init__(self, watch: Callable[[int, Actor], None], look: Callable[[], None]) -> None:
        self._watch, self._look = watch, look

    def table(self) -> dict[int, Handler]:
        """Return the handlers, by operation."""
        return handled({Op.EPOLL: self.epoll, Op.LOOK: self.look})

    def epoll(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[] -> a private epoll, which the server watches in its own epoll; only the actor keeps the descriptor open."""
        with select.epoll() as private:
            self._watch(private.fileno(), actor)
            return Reply(fds=(os.dup(private.fileno()),))

    def look(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[] -> [0]: wake, for what the actor has written just now, one of the actors that watch it with EPOLLEXCLUSIVE."""
        self._look()
        return OK
