"""The console script's first steps: an interrupt ends a program that has not begun, as it would any other, without a traceback.

Python's own handler raises KeyboardInterrupt, which nothing catches while modules are imported.
"""

from __future__ import annotations

import signal
from typing import NoReturn


def console() -> NoReturn:
    """Import the command line, then run it."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # else it is ignored: a background job of a shell
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from simunix.cli import main

    signal.signal(signal.SIGINT, handler)
    main.console()
