"""Viewers of a run get the whole state, then changes; a slow viewer misses some moments, but always gets the present state."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rsg_server.edge import watch
from rsg_server.edge.service import Service
from rsg_server.edge.watch import Board

POWER = {"a": "on", "b": "on"}


class Log:
    """An event log that counts how often it was flushed."""

    turns = 7
    flushed = 0

    def flush(self) -> None:
        self.flushed += 1


def board_of(powers: dict[str, str]) -> tuple[Board, Any]:
    """A board of a kernel that has these hosts, and the kernel."""
    kernel = SimpleNamespace(
        now_ns=0,
        hosts={name: SimpleNamespace(processes={}) for name in powers},
        processes={},
        faults=SimpleNamespace(power=SimpleNamespace(what=powers.__getitem__)),
        disturbances=SimpleNamespace(reasons=[]),
        network=SimpleNamespace(down={}),
        log=Log(),
    )
    service = SimpleNamespace(kernel=kernel, paused=False, options=SimpleNamespace(pace=None))
    return Board(cast(Service, service)), kernel


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_LEAST_S", -1.0)
    monkeypatch.setattr(watch, "LOOK_SHARE", 1e9)


def test_a_viewer_is_told_the_whole_then_changes() -> None:
    powers = dict(POWER)
    board, kernel = board_of(powers)
    board.look()
    first = board.message(0)
    assert list(first["hosts"].items()) == [("a", ["on", 0]), ("b", ["on", 0])]
    told = board.change
    board.look()
    assert board.message(told)["hosts"] == {}
    powers["a"] = "off"
    kernel.hosts["b"].processes[1] = object()
    board.look()
    assert board.message(told)["hosts"] == {"a": ["off", 0], "b": ["on", 1]}


def test_a_viewer_that_was_away_is_told_what_holds_now_and_nothing_twice() -> None:
    powers = dict(POWER)
    board, _ = board_of(powers)
    board.look()
    told = board.change
    for state in ("off", "booting", "on", "off") * 100:
        powers["a"] = state
        board.look()
    assert board.message(told)["hosts"] == {"a": ["off", 0]}
    assert list(board.message(0)["hosts"]) == ["a", "b"]  # in the platform's order


def test_looks_take_a_small_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_LEAST_S", 1000.0)
    board, kernel = board_of(dict(POWER))
    for _ in range(50):
        board.look()
    assert kernel.log.flushed == 1


def test_the_speed_is_that_since_the_last_look() -> None:
    board, kernel = board_of(dict(POWER))
    board.look()
    assert board.message(0)["speed"] is None
    kernel.now_ns = 60 * 10**9
    time.sleep(0.01)
    board.look()
    assert 0 < board.message(0)["speed"] <= 6000
