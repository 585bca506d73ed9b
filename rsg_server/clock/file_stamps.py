"""Waits for a tick of the real clock with which the kernel stamps files. A file with a later stamp was made during the run."""

import time

CLOCK_REALTIME_COARSE = 5  # from <linux/time.h>; Python's module time has no such constant


def next_tick_ns() -> int:
    """Wait for a tick of the kernel's clock for file stamps, and return its time in ns: stamps made before are older.

    Since Linux 6.13 some stamps are of a finer clock, which is up to a tick ahead of this one.
    """
    before = time.clock_gettime_ns(time.CLOCK_REALTIME)
    while (now := time.clock_gettime_ns(CLOCK_REALTIME_COARSE)) <= before:
        time.sleep(0.0005)
    return now
