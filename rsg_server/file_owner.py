"""Makes files that belong to another user, where a file system does not know the server's own user id.

A contained host (csrc/hostinit/containment/mounts.c) has a user namespace in which this computer's root has no number.
The kernel refuses (EOVERFLOW) to make a file there that belongs to such a user.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Iterator

_PR_SET_PDEATHSIG, _PR_GET_PDEATHSIG, _PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 1, 2, 3, 4


@functools.cache
def _libc() -> ctypes.CDLL:
    """Return the C library, opened once: to open the library anew would take longer than the calls into it."""
    return ctypes.CDLL(None)


@contextlib.contextmanager
def making_as(maker: tuple[int, int]) -> Iterator[None]:
    """Inside of the `with` block, let new files belong to this user and group (setfsuid(2)).

    `user` and `group` are numbers of this computer, not of a host's user namespace.
    """
    own = os.geteuid(), os.getegid()
    if maker == own:
        yield
        return
    libc, at_death = _libc(), ctypes.c_int()
    # the change makes the kernel forget this flag, and the signal for the death of the parent process
    dumpable = libc.prctl(_PR_GET_DUMPABLE)
    libc.prctl(_PR_GET_PDEATHSIG, ctypes.byref(at_death))
    libc.setfsgid(maker[1])
    libc.setfsuid(maker[0])
    try:
        yield
    finally:
        libc.setfsuid(own[0])
        libc.setfsgid(own[1])
        libc.prctl(_PR_SET_DUMPABLE, dumpable)
        libc.prctl(_PR_SET_PDEATHSIG, at_death.value)
