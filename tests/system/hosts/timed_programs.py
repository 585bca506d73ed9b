"""Programs in Python that say how long each of their operations took, and what came of it."""

from __future__ import annotations

from tests.system.runs import Run

TIMED = """\
import array, ctypes, mmap, os, signal, socket, subprocess, sys, threading, time
MB = 1_000_000
def took(name, function):
    begin = time.monotonic_ns()
    result = function()
    print(name, time.monotonic_ns() - begin, result, flush=True)
def opened(path, size=0, flags=0):
    fd = os.open(path, os.O_RDWR | os.O_CREAT | flags)
    os.ftruncate(fd, size)
    return fd
"""
"""What such a program begins with."""


def times(ran: Run, host: str, name: str) -> dict[str, tuple[int, str]]:
    """By what a program has timed: nanoseconds and result."""
    lines = [line.split(None, 2) for line in ran.output(host, name).splitlines()]
    assert lines, ran.everything(host, name)
    return {word: (int(duration), rest[0] if rest else "") for word, duration, *rest in lines}
