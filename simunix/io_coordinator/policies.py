"""Whom to grant the disk next, of those that wait: the eight policies of the thesis (III.D.1).

A policy is a key: the application with the least key is next; of several the one with the lowest number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from simunix.io_coordinator.application import Application

BEST_EFFORT = "best-effort"
"""Nobody waits: all that ask have the disk at once, and share it."""

ORDER = "order"
"""As a schedule that was computed before has it, such as HRR: the applications of a group number all their phases 0, 1, 2 …"""

Key = Callable[[Application, int], float]

POLICIES: dict[str, Key] = {
    "lowest-id": lambda application, now_ns: 0,
    "longest-io": lambda application, now_ns: -application.bytes_wanted,
    "shortest-io": lambda application, now_ns: application.bytes_wanted,
    "shortest-remaining": lambda application, now_ns: application.remaining_ns,
    "longest-remaining": lambda application, now_ns: -application.remaining_ns,
    "fifo": lambda application, now_ns: application.requested_ns or 0,
    "bandwidth": lambda application, now_ns: application.io_share(now_ns),
    "stretch": lambda application, now_ns: -application.stretch(now_ns),
}
"""`bandwidth`: the lowest ratio of I/O time to execution time first, as it is now; `stretch`: the worst stretch first."""
NAMES = (*POLICIES, ORDER, BEST_EFFORT)


def next_of(policy: str, waiting: Iterable[Application], now_ns: int) -> Application:
    """The application that is granted next, of at least one that waits."""
    key = POLICIES[policy]
    return min(waiting, key=lambda application: (key(application, now_ns), application.number))
