"""The server holds one program until a debugger has attached, or the program has ended."""

from __future__ import annotations

import pytest

from rsg_server.diagnosis.debugger import Debugger
from rsg_server.process.process import Process
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.real_process import real_process


def debugger(host: str = "", name: str = "fake") -> tuple[Debugger[str], list[Process]]:
    """A debugger, and the processes that it says it holds."""
    told: list[Process] = []
    return Debugger(host, name, told.append), told


def test_the_first_program_of_the_name_is_held(world: Fake) -> None:
    made, told = debugger()
    first, second = world.born(), world.born()
    assert made.holds(first, "answer") and not made.holds(second, "other")
    assert told == [first.process]
    assert made.release() == (first, "answer")


@pytest.mark.parametrize(
    ("host", "name", "is_held"),
    [("", "fake", True), ("h1", "fake", True), ("h0", "fake", False), ("", "other", False), ("", "label", True)],
)
def test_a_program_is_chosen_by_host_and_name(world: Fake, host: str, name: str, is_held: bool) -> None:
    actor = world.born("h1")
    actor.process.started, actor.process.label = True, "label"
    assert debugger(host, name)[0].holds(actor, "") is is_held


def test_a_label_is_that_of_the_started_program_only(world: Fake) -> None:
    actor = world.born()
    actor.process.label = "label"  # inherited
    assert not debugger(name="label")[0].holds(actor, "")


def test_a_held_program_waits_for_a_debugger_or_its_end(world: Fake) -> None:
    made, _ = debugger()
    assert made.may_go(), "nothing is held"
    with real_process(world) as actor:
        assert made.holds(actor, "")
        assert not made.is_attached() and not made.may_go()
    assert made.may_go()


def test_a_death_without_a_debugger_is_over_at_once(world: Fake) -> None:
    made, _ = debugger()
    actor = world.born()
    made.holds(actor, "")
    made.await_release(actor.process)
    assert not made.is_attached()
