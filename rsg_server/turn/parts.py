"""The record of the objects that the turn loop uses. rsg_server.wiring makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.cgroups.cgroups import Cgroups
    from rsg_server.clock.timeline import Timeline
    from rsg_server.event_log import EventLog
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.process.parking import Parking
    from rsg_server.process.process import Process
    from rsg_server.process.timerfds import TimerFds
    from rsg_server.rsg.moments import Moments
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.turn.births import FirstMessages
    from rsg_server.turn.choosing import ChosenTurns
    from rsg_server.turn.clock_guard import ClockGuard
    from rsg_server.turn.core import Core
    from rsg_server.turn.failures import Failures
    from rsg_server.turn.listener import Listener
    from rsg_server.turn.preemption import Preemption
    from rsg_server.turn.wakeups import Wakeups
    from rsg_server.warner import Warner


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The objects that the turn loop uses."""

    core: Core
    shared: SharedMemory
    timeline: Timeline
    parking: Parking
    moments: Moments
    wakeups: Wakeups
    preemption: Preemption
    listener: Listener
    first_messages: FirstMessages
    clock_guard: ClockGuard
    failures: Failures
    deaths: Deaths
    cgroups: Cgroups
    timerfds: TimerFds
    processes: dict[int, Process]
    log: EventLog
    warner: Warner
    chosen: ChosenTurns | None
