"""The limits memory.max of cgroups: the server counts the memory of processes, and kills the largest one above a limit.

The moments at which the server counts depend on the order of calls only, so they are equal in each run. A process is
counted at a message that comes 10 ms of virtual time or more after its last count, when it has grown by as many bytes
as the shim was told, and at its end. Only anonymous pages are counted (smaps_rollup of proc(5)), because the load of
the computer does not change them; the shim switches transparent huge pages off in such processes. Files and memory that
processes share by files are not counted. Nothing is swapped.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rsg_server.cgroups.group import NO_LIMIT, Group, group_of

if TYPE_CHECKING:
    from rsg_server.cgroups.hierarchy import Hierarchy
    from rsg_server.event_log import EventLog
    from rsg_server.process.process import Process
    from rsg_server.shared.clock import Clock

MAX = "memory.max"
HIGH = "memory.high"
EVENTS = "memory.events"
LOCAL = "memory.events.local"
PEAK = "memory.peak"
TOGETHER = "memory.oom.group"
KINDS = ("low", "high", "max", "oom", "oom_kill", "oom_group_kill")
BETWEEN_COUNTS_NS = 10**7
STEP_LEAST, STEP_WITHOUT_LIMIT = 1 << 18, 1 << 26
"""By how many bytes a process may grow before it must report its growth: the least number, and the number without a limit."""
STEPS_TO_LIMIT = 8
IMMORTAL = -1000
KIB = 1024
_ROLLUP_MOST = 4096
_COUNTED = re.compile(rb"^(?:Anonymous|Swap): *([0-9]+) kB$", re.MULTILINE)
"""Matches the lines of /proc/PID/smaps_rollup whose memory is counted."""


def used(process: Process) -> int:
    """Return the bytes of anonymous memory that a process has touched."""
    try:
        file = os.open(f"/proc/{process.global_pid}/smaps_rollup", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # the process is ending, and /proc shows no memory any more
        return 0
    try:
        text = os.read(file, _ROLLUP_MOST)
    except OSError:
        return 0
    finally:
        os.close(file)
    return sum(int(kib) * KIB for kib in _COUNTED.findall(text))


def current(group: Group) -> int:
    """Return the bytes that the processes of a cgroup and of the groups below have touched; all of them are counted now."""
    for process in group.members():
        process.memory_used = 0 if process.dead else used(process)
    return as_counted(group)


def as_counted(group: Group) -> int:
    """Return the bytes that the processes of a cgroup and of the groups below had touched when each was last counted."""
    total = sum(process.memory_used for process in group.members() if not process.dead)
    group.counts[PEAK] = max(group.counts.get(PEAK, 0), total)
    return total


def counting(group: Group) -> Iterable[Group]:
    """Yield this cgroup and the groups above it whose memory is counted, the lowest first."""
    return (above for above in group.up() if above.parent is not None and "memory" in above.controllers)


def count(group: Group, kind: str, of: Group | None = None) -> None:
    """Count a memory event (memory.events) in a cgroup and in the groups above; memory.events.local of `of` counts it, too.

    `of` is by default the group itself.
    """
    for above in counting(group):
        above.counts[f"{EVENTS} {kind}"] = above.counts.get(f"{EVENTS} {kind}", 0) + 1
    local = of or group
    local.counts[f"{LOCAL} {kind}"] = local.counts.get(f"{LOCAL} {kind}", 0) + 1


class Memory:
    """Counts the memory of processes, and enforces the limits of their groups."""

    def __init__(self, clock: Clock, log: EventLog) -> None:
        self._clock, self._log = clock, log

    @staticmethod
    def is_counted(group: Group) -> bool:
        """Return whether the memory of a cgroup's processes is counted, since it or a group above it has a limit."""
        return next(iter(counting(group)), None) is not None

    def follow(self, process: Process) -> None:
        """Begin to count the memory of a process, if its cgroup or a group above it has a limit."""
        group = group_of(process)
        groups = counting(group) if group is not None else ()
        limited = any(each.number(name) != NO_LIMIT for each in groups for name in (MAX, HIGH))
        process.memory_due_ns = 0 if limited else -1

    def step(self, process: Process) -> int:
        """Return by how many bytes a process may grow before it must report: an eighth of what is left up to its
        cgroup's limit.
        """
        home = group_of(process)
        if process.memory_due_ns < 0 or home is None:
            return STEP_WITHOUT_LIMIT
        left = [group.number(MAX) - as_counted(group) for group in counting(home) if group.number(MAX) != NO_LIMIT]
        return max(STEP_LEAST, min(left, default=STEP_WITHOUT_LIMIT) // STEPS_TO_LIMIT)

    def look(self, hierarchy: Hierarchy, process: Process) -> None:
        """Count the memory of a process that has sent a message, if its last count is old enough."""
        if self._clock.now_ns >= process.memory_due_ns:
            self.check(hierarchy, process)

    def check(self, hierarchy: Hierarchy, process: Process) -> None:
        """Count the memory of a process now.

        If limits are exceeded, kill processes, in the lowest of these groups first, as Linux.
        """
        home = group_of(process)
        if home is None or process.memory_due_ns < 0:
            return
        process.memory_due_ns = self._clock.now_ns + BETWEEN_COUNTS_NS
        process.memory_used = used(process)
        for group in [group for group in counting(home) if group.number(MAX) != NO_LIMIT or group.number(HIGH) != NO_LIMIT]:
            self._enforce(hierarchy, group)

    def enforce(self, hierarchy: Hierarchy, group: Group) -> None:
        """Enforce a limit that was written to a cgroup's memory.max just now."""
        for process in list(group.members()):
            self.follow(process)
        if "memory" in group.controllers:
            current(group)
            self._enforce(hierarchy, group)

    def _enforce(self, hierarchy: Hierarchy, group: Group) -> None:
        most, high = group.number(MAX), group.number(HIGH)
        if most == NO_LIMIT and high == NO_LIMIT:
            return
        total = as_counted(group)
        if total > min(limit for limit in (most, high) if limit != NO_LIMIT):
            total = current(group)  # processes that are counted later may have freed memory
        if high != NO_LIMIT and total > high:
            count(group, "high")
            hierarchy.tell_up(group, EVENTS)
        while most != NO_LIMIT and total > most:
            count(group, "max")
            count(group, "oom")
            if not self._kill_largest(hierarchy, group):
                break
            total = current(group)

    def _kill_largest(self, hierarchy: Hierarchy, group: Group) -> bool:
        """Kill the process of a cgroup with the highest score; all of its group if memory.oom.group is 1.

        False if there is none.
        """
        scores = [
            (self._score(hierarchy, process), -process.number, process) for process in group.members() if not process.dead
        ]
        scores = [score for score in scores if score[0] is not None]
        if not scores:
            hierarchy.tell_up(group, EVENTS)
            return False
        victim = max(scores, key=lambda score: score[:2])[2]
        home = group_of(victim)
        assert home is not None
        together = [above for above in home.up() if above.number(TOGETHER, 0) == 1 and above.is_within(group)]
        doomed = [process for process in together[-1].members() if not _is_immortal(process)] if together else [victim]
        for process in doomed:
            self._log.event(
                self._clock.now_ns,
                "oom_kill",
                host=process.host.name,
                pid=process.pid,
                group=group.path,
                program=process.program,
            )
            count(group_of(process) or group, "oom_kill")
            process.told |= 1 << (signal.SIGKILL - 1)
        if together:
            count(together[-1], "oom_group_kill")
        hierarchy.kill(doomed)
        hierarchy.tell_up(home, EVENTS)
        return True

    @staticmethod
    def _score(hierarchy: Hierarchy, process: Process) -> int | None:
        """Return the score of a process for being killed, as oom_badness of Linux's mm/oom_kill.c does.

        None for a process that must not be killed.
        """
        adjustment = _adjustment(process)
        if adjustment == IMMORTAL:
            return None
        return used(process) + adjustment * hierarchy.host.host.memory_bytes // 1000


def _adjustment(process: Process) -> int:
    try:
        with open(f"/proc/{process.global_pid}/oom_score_adj", "rb") as file:
            return int(file.read())
    except OSError:
        return 0


def _is_immortal(process: Process) -> bool:
    return process.dead or _adjustment(process) == IMMORTAL
