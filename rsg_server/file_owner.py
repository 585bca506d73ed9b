"""Making files of another user, in file systems that do not know the server's own id: those of contained hosts.

In the user namespace of a contained host (csrc/hostinit/containment/mounts.c) the computer's root is nobody, and the kernel
makes no file that would belong to nobody (EOVERFLOW).
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
    """The C library; to open it anew costs more than the calls."""
    return ctypes.CDLL(None)


@contextlib.contextmanager
def making_as(maker: tuple[int, int]) -> Iterator[None]:
    """Have files that are made belong to this user and group for a while (setfsuid(2)), as numbers of the computer."""
    own = os.geteuid(), os.getegid()
    if maker == own:
        yield
        return
    libc, at_death = _libc(), ctypes.c_int()
    dumpable = libc.prctl(_PR_GET_DUMPABLE)  # the kernel forgets this and the signal at the parent's death with the change
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
