"""Set the umask, which this process inherits from its caller's shell, to a value that does not depend on the caller.

The process that makes the hosts (csrc/hostinit/main.c) drops the other inherited attributes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

UMASK = 0o022


@contextlib.contextmanager
def umask_set_aside() -> Iterator[None]:
    """For the `with` block, use the umask of a freshly booted computer, since all users of a host must be able to read
    its files. The run directory itself has mode 0700.
    """
    before = os.umask(UMASK)
    try:
        yield
    finally:
        os.umask(before)
