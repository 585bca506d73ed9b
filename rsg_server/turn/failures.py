"""Handles an actor that sends a message which no shim sends, and a failed system call of the server itself.

The process of such an actor is killed; no other process is affected. An error of the server's own system calls
is never the sender's fault: the sender gets an errno if nothing has changed yet, else the run ends.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from rsg_server.errors import LACKS, MORE_FILES, ServerError
from rsg_server.handlers.table import failed

if TYPE_CHECKING:
    from rsg_server.handlers.table import Handler, Reply
    from rsg_server.process.actor import Actor
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.warner import Warner


class Failures:
    """Kills processes that send messages which no shim sends, and ends the run if the server itself has failed."""

    def __init__(self, warner: Warner, deaths: Deaths) -> None:
        self._warner, self._deaths = warner, deaths

    def kill(self, actor: Actor, why: str) -> None:
        """Kill the process of an actor that has sent a message which no shim sends, and tell the user why."""
        self._warner.warn(f"{actor!r} {why}; the process is killed")
        self._deaths.kill(actor.process)

    def own_failure(self, actor: Actor, handler: Handler | None, error: OSError) -> Reply:
        """Return a reply with an errno for an error of the server's own system calls; raise ServerError if the sender
        cannot go on.
        """
        if error.errno in LACKS and handler is not None and handler.makes_descriptors:
            self._warner.warn(f"{actor!r}: the server has no descriptor for it ({error.strerror}); {MORE_FILES}")
            return failed(errno.ENFILE)
        mend = f"; {MORE_FILES}" if error.errno in LACKS else ""
        raise ServerError(f"the server failed while it served {actor!r}: {error}{mend}") from error
