"""What simunix inherits from its caller's shell and hosts must not depend on, as far as it is a matter of this process.

The factory of hosts (csrc/hostinit/main.c) leaves behind what hosts would inherit by way of it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

UMASK = 0o022


@contextlib.contextmanager
def umask_set_aside() -> Iterator[None]:
    """Make files as after a boot: those of hosts must be readable for all their users. The run directory itself is 0700."""
    before = os.umask(UMASK)
    try:
        yield
    finally:
        os.umask(before)
