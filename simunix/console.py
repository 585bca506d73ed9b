"""The terminal on which commands print tables: rich's, which ends as every other output does when its reader has gone."""

from __future__ import annotations

from rich.console import Console as RichConsole


class Console(RichConsole):
    """A console whose closed pipe is a BrokenPipeError, of which the command line makes a quiet end."""

    def on_broken_pipe(self) -> None:
        """Let the error go on that is being handled; rich itself would end the process with status 1."""
        raise BrokenPipeError
