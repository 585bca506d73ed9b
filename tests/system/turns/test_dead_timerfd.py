"""A timerfd that no process has open any more moves no clock."""

from __future__ import annotations

import re

from tests.conftest import Simunix

WAITS_FOR_EVER = """
import ctypes, os, signal, struct, time
libc = ctypes.CDLL(None)
timer = libc.timerfd_create(1, 0)
assert libc.timerfd_settime(timer, 0, struct.pack("qqqq", 0, 0, 3600, 0), None) == 0
{close}
time.sleep(2)
signal.pause()
"""


def stopped_at(simunix: Simunix, close: str) -> float:
    """The virtual time at which nobody could run any more."""
    done = simunix("run", "--", "python3", "-c", WAITS_FOR_EVER.format(close=close))
    found = re.search(r"virtual time stopped at ([\d.]+) s", done.stderr)
    assert found is not None, done.stderr
    return float(found[1])


def test_a_closed_timerfd_does_not_move_the_end_of_the_run(simunix: Simunix) -> None:
    assert 2 <= stopped_at(simunix, "os.close(timer)") < 3
    assert 3600 <= stopped_at(simunix, "pass") < 3601
