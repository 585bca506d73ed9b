"""The entry point of the console script: an interrupt (Ctrl-C) during the start ends the program without a traceback.

Python's own handler raises KeyboardInterrupt, which nothing catches while modules are imported. Besides, Python's
garbage collector is made to run rarely, before the first import: modules create tens of thousands of objects and hardly
any garbage, and the collector took 6 to 20 % of the processor time of a small run's start.
"""

from __future__ import annotations

import gc
import signal
from typing import NoReturn

NEW_OBJECTS = 100_000
"""The number of new objects after which Python's garbage collector runs: about as many as the modules of a scenario's
run create.
"""


def console() -> NoReturn:
    """Import the command line, then run it."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # a shell that starts a background job ignores the signal, and it stays ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(NEW_OBJECTS)
    from simunix.cli import main

    signal.signal(signal.SIGINT, handler)
    main.console()
