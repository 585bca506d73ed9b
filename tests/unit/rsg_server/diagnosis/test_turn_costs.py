"""The CPU time of each turn, and what crosses the network, in files."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from rsg_server.diagnosis.turn_costs import MESSAGE_COLUMNS, MESSAGES_FILE, TURN_COLUMNS, TURNS_FILE, TurnCosts
from rsg_server.errors import ServerError
from tests.unit.rsg_server.fakes import HOSTS, Fake


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_each_turn_has_the_cpu_time_of_its_process(world: Fake, tmp_path: Path) -> None:
    costs = TurnCosts(world.kernel, tmp_path)
    busy, gone = world.born("h0"), world.born("h1")
    busy.process.global_pid = os.getpid()
    world.kernel.log.turn(5, busy.number, 255)
    sum(range(10**5))
    world.kernel.log.turn(7, gone.number, 0)
    world.kernel.log.turn(9, busy.number, 1)
    costs.close()
    head, first, second, third = rows(tmp_path / TURNS_FILE)
    assert tuple(head) == TURN_COLUMNS
    assert [row[:4] for row in (first, second, third)] == [
        ["5", "h0", str(busy.number), "255"],
        ["7", "h1", str(gone.number), "0"],
        ["9", "h0", str(busy.number), "1"],
    ]
    assert int(first[4]) > int(third[4]) > 0 == int(second[4])
    assert int(first[5]) > 100_000  # this test's loop is the server's work


def test_every_turn_comes_from_the_server_meanwhile(world: Fake, tmp_path: Path) -> None:
    TurnCosts(world.kernel, tmp_path).close()
    world.kernel.clock.advance_to(30)
    world.set_lookahead()
    assert world.shim.page.lookahead_ns == 30  # no deadline comes before it


def test_what_crosses_the_network_has_its_latency(world: Fake, tmp_path: Path) -> None:
    costs = TurnCosts(world.kernel, tmp_path)
    route = world.kernel.network.route(HOSTS[0], HOSTS[1])
    world.kernel.wire.moved(world.kernel.hosts["h0"], world.kernel.hosts["h1"], 50, 64)
    world.kernel.wire.moved(world.kernel.hosts["h0"], world.kernel.hosts["h0"], 60, 64)
    costs.close()
    assert rows(tmp_path / MESSAGES_FILE) == [list(MESSAGE_COLUMNS), ["50", str(route.latency_ns), "h0", "h1", "64"]]


def test_a_folder_that_is_not_there_is_named(world: Fake, tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="the costs of turns cannot be written: No such file or directory"):
        TurnCosts(world.kernel, tmp_path / "none")
