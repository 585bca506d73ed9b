"""Use the kernel's same-page merging (KSM) for a run: equal daemons have equal pages on every host
(csrc/hostinit/ksm.c).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.factory.launcher import ContainerLauncher
from simunix.launch.limits.capacity import GIB, Needs, gib
from simunix.launch.limits.limits import memory_bytes

WORTH_BYTES = GIB
"""With `merge_pages: auto`, pages are merged only if that saves at least this many bytes, because merging takes the
time of a second core.
"""
PAGES, MILLISECONDS = 4000, 20
"""The kernel scans PAGES pages every MILLISECONDS: faster than starting daemons create pages."""
FULL_SCANS = Path("/sys/kernel/mm/ksm/full_scans")
SCANS = 2
"""How often the kernel must scan a page before it merges the page with equal ones: the second scan finds the page
unchanged.
"""
ROOM_SHARE = 0.08
LOOK_S = 0.2
PATIENCE_S = 60.0


def start_merging(wanted: str, needs: Needs, launcher: ContainerLauncher, warn: Callable[[str], None]) -> bool:
    """Switch merging on if it is wanted and possible; return whether it is on. Warns of the loss if merging is wanted
    but not possible.
    """
    if wanted == "no" or (wanted == "auto" and needs.saved_bytes < WORTH_BYTES):
        return False
    try:
        launcher.factory.merge_pages(PAGES, MILLISECONDS)
    except SimunixError as error:
        warn(
            f"equal pages of the hosts are not merged ({error}): that would save about {gib(needs.saved_bytes)} of "
            f"{gib(needs.memory_bytes)}; it needs root and Linux 6.7 or later"
        )
        return False
    return True


@dataclass(slots=True)
class MemoryGate:
    """Delays the start of further daemons, in real time, while memory is short and the merging of pages still frees
    memory.
    """

    is_given_up: Callable[[], bool]
    held_s: float = 0.0

    def wait(self) -> None:
        """Return as soon as enough memory is free, merging frees no more memory, or the run is being ended."""
        began = time.monotonic()
        floor = int(memory_bytes()["MemTotal"] * ROOM_SHARE)
        scans = _full_scans()
        while memory_bytes()["MemAvailable"] < floor and not self.is_given_up():
            if time.monotonic() - began > PATIENCE_S or _full_scans() > scans + SCANS:
                break
            time.sleep(LOOK_S)
        self.held_s += time.monotonic() - began


def _full_scans() -> int:
    try:
        return int(FULL_SCANS.read_text())
    except (OSError, ValueError):
        return 0
