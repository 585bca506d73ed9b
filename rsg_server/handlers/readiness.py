"""Handles EPOLL, which makes the epoll of one thread, and LOOK, which makes the server look for ready descriptors in
mid-turn.
"""

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
    """Handles EPOLL and LOOK. `look` wakes the actors whose descriptors have become ready."""

    def __init__(self, watch: Callable[[int, Actor], None], look: Callable[[], None]) -> None:
        self._watch, self._look = watch, look

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled({Op.EPOLL: self.epoll, Op.LOOK: self.look})

    def epoll(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Make the private epoll of a thread, to which the thread's shim adds what the thread waits for.

        [] -> [0] + the epoll. The server's own epoll watches the private epoll, but the server does not keep the
        descriptor open.
        """
        with select.epoll() as private:
            self._watch(private.fileno(), actor)
            return Reply(fds=(os.dup(private.fileno()),))

    def look(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Look which descriptors are ready just after the caller has written something.

        [] -> [0]. If several actors watch a file with EPOLLEXCLUSIVE, the look decides, at the moment of the write,
        which of them wakes.
        """
        self._look()
        return OK
