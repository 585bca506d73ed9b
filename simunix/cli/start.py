"""The console script's first steps: an interrupt ends a program that has not begun, as it would any other, without a traceback.

Python's own handler raises KeyboardInterrupt, which nothing catches while modules are imported. Garbage is looked for seldom
from the first import on: modules make objects by the ten thousand and hardly any garbage; looking for it was 6 to 20 % of
the processor time of a small run's start.
"""

from __future__ import annotations

import gc
import signal
from typing import NoReturn

NEW_OBJECTS = 100_000
"""As many are made before Python's collector looks at them: about what the modules of a run of a scenario make."""


def console() -> NoReturn:
    """Import the command line, then run it."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # else it is ignored: a background job of a shell
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(NEW_OBJECTS)
    from simunix.cli import main

    signal.signal(signal.SIGINT, handler)
    main.console()
