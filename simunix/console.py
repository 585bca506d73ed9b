"""The terminal on which commands print tables: rich's console, changed to end like any other output when its reader has
gone.
"""

from __future__ import annotations

from rich.console import Console as RichConsole


class Console(RichConsole):
    """A console of rich that raises BrokenPipeError if its reader has gone. The command line then ends without a
    message.
    """

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError that is being handled again, since rich itself would end the process with status 1."""
        raise BrokenPipeError
