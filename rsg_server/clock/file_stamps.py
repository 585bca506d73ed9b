"""The real clock with which the kernel stamps files: what it has stamped since a run began is of that run."""

import time

CLOCK_REALTIME_COARSE = 5  # <linux/time.h>; the time module has no name for it


def next_tick_ns() -> int:
    """Wait for a tick of the clock with which the kernel stamps files: all stamps made before are older than the tick.

    Since Linux 6.13 some stamps are of the fine clock, which is up to a tick ahead of the coarse one.
    """
    before = time.clock_gettime_ns(time.CLOCK_REALTIME)
    while (now := time.clock_gettime_ns(CLOCK_REALTIME_COARSE)) <= before:
        time.sleep(0.0005)
    return now
