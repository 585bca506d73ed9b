"""The first steps of the console script: an interrupt ends a program that has not begun, without a traceback.

Python's own handler raises KeyboardInterrupt, which nothing catches while modules are imported. From the first import on,
Python's collector looks for garbage seldom: modules make objects by the ten thousand and hardly any garbage; looking for it
was 6 to 20 % of the processor time of a small run's start.
"""

from __future__ import annotations

import gc
import signal
from typing import NoReturn

NEW_OBJECTS = 100_000
"""How many new objects Python's collector waits for before it looks: about as many as the modules of a run of a scenario
make."""


def console() -> NoReturn:
    """Import the command line, then run it."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # else the signal is ignored, as for a background job of a shell
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(NEW_OBJECTS)
    from simunix.cli import main

    signal.signal(signal.SIGINT, handler)
    main.console()
