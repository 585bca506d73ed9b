"""Observers are called in the order in which they were connected, whatever they do meanwhile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.observers import Observers


def test_each_is_told_in_the_order_of_connection() -> None:
    told: list[tuple[str, str, int]] = []
    event: Observers[str, int] = Observers()
    for name in ("first", "second", "third"):
        event.connect(lambda text, number, name=name: told.append((name, text, number)))
    event.tell("a", 1)
    assert told == [("first", "a", 1), ("second", "a", 1), ("third", "a", 1)]


def test_nobody_need_observe() -> None:
    event: Observers[str] = Observers()
    assert not event
    event.tell("unheard")
    event.connect(print)
    assert event
    event.disconnect(print)
    assert not event


def test_only_what_is_connected_can_be_disconnected() -> None:
    with pytest.raises(ValueError, match="not in list"):
        Observers().disconnect(print)


def test_who_connects_or_leaves_while_an_event_is_told_counts_from_the_next_one_on() -> None:
    told: list[str] = []
    event: Observers[str] = Observers()

    def late(text: str) -> None:
        told.append(f"late {text}")

    def leaving(text: str) -> None:
        told.append(f"leaving {text}")
        event.disconnect(leaving)
        event.disconnect(last)
        event.connect(late)

    def last(text: str) -> None:
        told.append(f"last {text}")

    event.connect(leaving)
    event.connect(last)
    event.tell("one")
    event.tell("two")
    assert told == ["leaving one", "last one", "late two"]


def test_an_exception_reaches_the_part_that_tells_and_ends_the_telling() -> None:
    told: list[str] = []
    event: Observers[str] = Observers()

    def failing(text: str) -> None:
        raise OSError(text)

    event.connect(failing)
    event.connect(told.append)
    with pytest.raises(OSError, match="no room"):
        event.tell("no room")
    assert told == []


@given(st.lists(st.tuples(st.sampled_from(["connect", "disconnect", "tell"]), st.integers(0, 3))))
def test_any_course_is_that_of_a_list(steps: list[tuple[str, int]]) -> None:
    told: list[tuple[int, int]] = []
    functions = [lambda number, name=name: told.append((name, number)) for name in range(4)]
    event: Observers[int] = Observers()
    model: list[int] = []
    expected: list[tuple[int, int]] = []
    for moment, (step, name) in enumerate(steps):
        if step == "connect":
            event.connect(functions[name])
            model.append(name)
        elif step == "tell":
            event.tell(moment)
            expected += [(each, moment) for each in model]
        elif name in model:
            event.disconnect(functions[name])
            model.remove(name)
        assert bool(event) == bool(model)
    assert told == expected
