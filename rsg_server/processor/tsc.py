"""Measures how fast this computer's time stamp counter counts. Shims measure by this counter what threads compute."""

from __future__ import annotations

import time
from pathlib import Path

from rsg_server._native import lib
from rsg_server.errors import ServerError

NEEDED = ("constant_tsc", "nonstop_tsc")
WINDOW_NS = 20_000_000
FRACTION_BITS = 32


def check_tsc(cpuinfo: Path = Path("/proc/cpuinfo")) -> None:
    """Raise ServerError if the speed of the time stamp counter varies with the processor's frequency or sleep."""
    flags = next((line.split() for line in cpuinfo.read_text().splitlines() if line.startswith("flags")), [])
    missing = [flag for flag in NEEDED if flag not in flags]
    if missing:
        raise ServerError(
            f"cpu_policy charged: this computer's time stamp counter is not constant ({', '.join(missing)} missing in "
            "/proc/cpuinfo), and computing cannot be measured by it; use cpu_policy: free"
        )


def cycle_ns() -> int:
    """Return the ns per cycle of the time stamp counter, in units of 2^-32 ns."""
    cycles, begun_ns = int(lib.tsc_now()), time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    while (passed_ns := time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - begun_ns) < WINDOW_NS:
        pass
    return (passed_ns << FRACTION_BITS) // (int(lib.tsc_now()) - cycles)
