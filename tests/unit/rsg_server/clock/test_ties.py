"""Time-outs that are due at the moment of an event come before or after it, as somebody says."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rsg_server.clock.timeline import Timeline
from rsg_server.clock.timer_queue import TimerQueue
from rsg_server.order import FirstInFirstOut
from rsg_server.platform.host import Host
from rsg_server.process.actor import Actor
from rsg_server.process.host_state import HostState
from rsg_server.process.parking import Parking
from rsg_server.process.process import Process
from rsg_server.process.run_queue import RunQueue
from rsg_server.process.slots import Slots
from rsg_server.shared.memory import SharedMemory
from rsg_server.shared.prices import Costs
from rsg_server.waits.time import TimeWait

HOST = HostState(Host("h", (ip_address("10.0.0.1"),)))
EVENT, DEADLINE, SHARED = "event", "deadline", "deadline in shared memory"
DUE = st.lists(st.tuples(st.sampled_from([EVENT, DEADLINE, SHARED]), st.integers(1, 3)), min_size=1, max_size=12)


class Ties:
    """A timeline with deadlines of actors; `seen` has what has come, in its order, by number."""

    def __init__(self, due: list[tuple[str, int]]) -> None:
        self.shared = SharedMemory(0, 0, Costs())
        timer_queue = TimerQueue(self.shared.deadlines)
        self.timeline, self.slots = Timeline(timer_queue), Slots()
        self.parking = Parking(RunQueue(FirstInFirstOut()), self.timeline, timer_queue, self.slots)
        self.seen: list[int] = []
        self.asked: list[int] = []
        self.actors: list[Actor] = []  # whose records the core has
        for number, (kind, at_ns) in enumerate(due):
            if kind == EVENT:
                self.timeline.add(at_ns, lambda number=number: self._happened(number))  # type: ignore[misc]
            else:
                self._park(number, at_ns, kind == SHARED)

    def _park(self, number: int, at_ns: int, is_shared: bool) -> None:
        actor = Actor(number, Process(number + 1, HOST, None, "/bin/fake", seed=0, nofile=(9, 9)), None)  # type: ignore[arg-type]
        self.actors.append(actor)
        self.slots.take(actor)
        wait = TimeWait()
        wait.set_terms(0, at_ns, 0, 0, is_shared)
        self.parking.park(actor, wait)

    def _look(self) -> None:
        self.seen += [actor.number for actor in self.parking.run_queue if actor.number not in self.seen]

    def _happened(self, number: int) -> None:
        self._look()
        self.seen.append(number)

    def run(self, answers: list[bool] | None) -> list[int]:
        """Let all come that is due, each tie as the next answer says; return it in its order."""

        def comes_later(record: Any) -> bool:
            self.asked.append(record.number)
            return bool(answers) and answers[len(self.asked) % len(answers)]

        if answers is not None:
            self.timeline.choose_ties(comes_later)
        for moment_ns in (1, 2, 3):
            self.timeline.run_due(moment_ns)
        self._look()
        self.shared.close()
        return self.seen


@given(DUE)
def test_without_a_choice_the_order_is_that_of_adding(due: list[tuple[str, int]]) -> None:
    expected = sorted(range(len(due)), key=lambda number: (due[number][1], number))
    assert Ties(due).run(None) == Ties(due).run([]) == expected


@given(DUE)
def test_all_time_outs_may_come_behind_the_events_of_their_moment(due: list[tuple[str, int]]) -> None:
    seen = Ties(due).run([True])
    for place, number in enumerate(seen):
        kind, at_ns = due[number]
        later = [due[other] for other in seen[place + 1 :]]
        assert kind == EVENT or (EVENT, at_ns) not in later


@given(DUE, st.lists(st.booleans(), min_size=1, max_size=5))
def test_events_keep_their_order_and_nothing_is_early_or_lost(due: list[tuple[str, int]], answers: list[bool]) -> None:
    ties = Ties(due)
    seen = ties.run(answers)
    assert sorted(seen) == list(range(len(due)))
    assert [due[number][1] for number in seen] == sorted(at_ns for _, at_ns in due)
    events = [number for number in seen if due[number][0] == EVENT]
    assert events == sorted(events, key=lambda number: (due[number][1], number))
    moments = {at_ns for kind, at_ns in due if kind == EVENT}
    assert all(due[number][0] != EVENT and due[number][1] in moments for number in ties.asked)
