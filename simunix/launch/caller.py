"""Sets aside what this process has inherited from its caller's shell and no host may depend on: the umask.

The process that makes the hosts (csrc/hostinit/main.c) drops what hosts would inherit from it.
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
