"""Decide which application gets the disk next, among those that wait for it.

Invariant: only one application of a group has the disk at a time, unless the policy is best effort. A grant is never
revoked: I/O phases are exclusive and not pre-empted, as in the thesis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from simunix.io_coordinator.application import Application
from simunix.io_coordinator.policies import BEST_EFFORT, ORDER, next_of


class CoordinatorError(Exception):
    """The error that an application sent a request which is not allowed in its present state."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A finished I/O phase, for the log. Times are nanoseconds of the coordinator's clock."""

    number: int
    group: str
    requested_ns: int
    granted_ns: int
    released_ns: int
    size_bytes: int


@dataclass(slots=True, eq=False)
class Coordinator:
    """The applications by number. `rates` has the bytes per second that each group may use; 0 is no limit."""

    policy: str
    rates: Mapping[str, int] = field(default_factory=dict)
    applications: dict[int, Application] = field(default_factory=dict)
    _due: dict[str, int] = field(default_factory=dict)  # by group: the number of the next I/O phase, for the policy `order`

    def register(self, now_ns: int, number: int, alone_ns: int, group: str) -> Application:
        """Return a new application. Raises CoordinatorError if an application has this number already."""
        if number in self.applications:
            raise CoordinatorError(f"there is an application {number} already; give each a number of its own")
        application = Application(number, alone_ns, group, now_ns, now_ns)
        self.applications[number] = application
        return application

    def request(self, now_ns: int, application: Application, size_bytes: int, order: int) -> None:
        """Note that an application requests an I/O phase. Raises CoordinatorError if the application waits for a phase
        already.
        """
        if application.requested_ns is not None:
            raise CoordinatorError(f"application {application.number} has asked already; it must release first")
        application.requests(now_ns, size_bytes, order)

    def release(self, now_ns: int, application: Application) -> Phase:
        """Note that an application's I/O phase is over, and return the phase. Raises CoordinatorError if the
        application has no phase.
        """
        if not application.is_granted or application.requested_ns is None:
            raise CoordinatorError(f"application {application.number} has no grant to release")
        requested_ns, granted_ns = application.requested_ns, application.since_ns
        application.released(now_ns)
        return Phase(
            application.number, application.group, requested_ns, granted_ns, application.since_ns, application.bytes_wanted
        )

    def gone(self, application: Application) -> None:
        """Remove an application that has ended. If it had the disk, the disk is free."""
        del self.applications[application.number]

    def decide(self, now_ns: int) -> list[Application]:
        """Grant the disk to the next application of each group whose disk is free, in the order of the groups' names.
        Return the applications.
        """
        waiting: dict[str, list[Application]] = {}
        busy = set()
        for application in self.applications.values():
            if application.is_granted:
                busy.add(application.group)
            elif application.requested_ns is not None:
                waiting.setdefault(application.group, []).append(application)
        chosen: list[Application] = []
        for group in sorted(waiting):
            if self.policy == BEST_EFFORT:
                chosen += sorted(waiting[group], key=lambda application: application.number)
            elif group not in busy:
                chosen += self._next(group, waiting[group], now_ns)
        for application in chosen:
            application.granted(now_ns)
        return chosen

    def _next(self, group: str, waiting: list[Application], now_ns: int) -> list[Application]:
        """Return the application of a group that gets the disk next; the list is empty if none does.

        With the policy `order`, the disk stays idle until the application comes that is due by the order computed
        beforehand. If all applications of the group wait, the due one has ended, and the next one gets the disk.
        """
        if self.policy != ORDER:
            return [next_of(self.policy, waiting, now_ns)]
        first = min(waiting, key=lambda application: (application.order, application.number))
        all_wait = len(waiting) == sum(application.group == group for application in self.applications.values())
        if first.order > self._due.get(group, 0) and not all_wait:
            return []
        self._due[group] = first.order + 1
        return [first]

    def rate_of(self, application: Application) -> int:
        """Return how many bytes per second the application's group may use; 0 is no limit."""
        return self.rates.get(application.group, 0)
