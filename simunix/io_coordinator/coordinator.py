"""Who waits for the disk, who has it, and who is next.

Invariant: of the applications of a group one has the disk at a time, unless the policy is best effort. A grant is never taken
back: I/O phases are exclusive and not pre-empted, as in the thesis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from simunix.io_coordinator.application import Application
from simunix.io_coordinator.policies import BEST_EFFORT, ORDER, next_of


class CoordinatorError(Exception):
    """An application has asked for something that it may not ask for now."""


@dataclass(frozen=True, slots=True)
class Phase:
    """An I/O phase that is over, for the log: nanoseconds of the coordinator's clock."""

    number: int
    group: str
    requested_ns: int
    granted_ns: int
    released_ns: int
    size_bytes: int


@dataclass(slots=True, eq=False)
class Coordinator:
    """Applications by their numbers. `rates` are the bytes per second that groups may have, 0 if nothing is said of one."""

    policy: str
    rates: Mapping[str, int] = field(default_factory=dict)
    applications: dict[int, Application] = field(default_factory=dict)
    _due: dict[str, int] = field(default_factory=dict)  # by group: the number of the next phase, for the policy `order`

    def register(self, now_ns: int, number: int, alone_ns: int, group: str) -> Application:
        """A new application. Raises CoordinatorError if there is one of this number."""
        if number in self.applications:
            raise CoordinatorError(f"there is an application {number} already; give each a number of its own")
        application = Application(number, alone_ns, group, now_ns, now_ns)
        self.applications[number] = application
        return application

    def request(self, now_ns: int, application: Application, size_bytes: int, order: int) -> None:
        """An application wants to begin an I/O phase. Raises CoordinatorError if it has asked already."""
        if application.requested_ns is not None:
            raise CoordinatorError(f"application {application.number} has asked already; it must release first")
        application.requests(now_ns, size_bytes, order)

    def release(self, now_ns: int, application: Application) -> Phase:
        """An I/O phase is over. Raises CoordinatorError if the application was granted none."""
        if not application.is_granted or application.requested_ns is None:
            raise CoordinatorError(f"application {application.number} has no grant to release")
        requested_ns, granted_ns = application.requested_ns, application.since_ns
        application.released(now_ns)
        return Phase(
            application.number, application.group, requested_ns, granted_ns, application.since_ns, application.bytes_wanted
        )

    def gone(self, application: Application) -> None:
        """An application has ended, whatever it was doing: what it had is free."""
        del self.applications[application.number]

    def decide(self, now_ns: int) -> list[Application]:
        """Grant the disk to those whose turn it is, groups in the order of their names, and return them."""
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
        """The application of a group that is next, if one is: a schedule computed before may leave the disk idle.

        It does so until the application comes that is due, and not when all wait: the one that is due has gone.
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
        """The bytes per second that the application's group may have; 0: nothing is said."""
        return self.rates.get(application.group, 0)
