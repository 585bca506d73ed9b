"""The eight policies of the thesis (III.D.1) that choose which waiting application gets the disk next.

A policy is a function that computes a key. The application with the least key is next; of equal keys, the one with the
lowest number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from simunix.io_coordinator.application import Application

BEST_EFFORT = "best-effort"
"""The name of the policy under which no application waits: all that ask use the disk at once and share it."""

ORDER = "order"
"""The name of the policy that follows a schedule computed beforehand, such as HRR: the applications of a group number
all their phases 0, 1, 2 …
"""

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
"""The key of each policy, by name. `bandwidth` prefers the application with the lowest present ratio of I/O time to
execution time, `stretch` the one with the greatest stretch.
"""
NAMES = (*POLICIES, ORDER, BEST_EFFORT)


def next_of(policy: str, waiting: Iterable[Application], now_ns: int) -> Application:
    """Return the waiting application that gets the disk next. At least one application must wait."""
    key = POLICIES[policy]
    return min(waiting, key=lambda application: (key(application, now_ns), application.number))
