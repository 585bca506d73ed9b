"""The records for a terminal of a host that a user outside of the emulation has: the request, and the opened terminal.

The host's side of the terminal belongs to a session inside. The other side goes to the caller of the control socket,
which reads and writes there without the server. Terminals are opened by simunix.launch.session, which knows how hosts
are made.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from rsg_server.process.host_state import Command


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalRequest:
    """A session on a host: the program, the user's shell if `argv` is empty, and the size of the caller's terminal.

    `environment` contains what the session takes over from the caller: the type of the terminal, the language.
    """

    host: str
    argv: tuple[str, ...]
    environment: dict[str, str]
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class OpenedTerminal:
    """Both sides of a terminal, and the program to be started on it. The code that has opened a terminal closes it."""

    outside: int
    inside: int
    command: Command

    def close(self) -> None:
        """Close both sides."""
        os.close(self.outside)
        os.close(self.inside)


TerminalOpener = Callable[[TerminalRequest], OpenedTerminal]
"""Opens a terminal of a host that runs. Raises SimunixError if the host has none."""
