"""Rows of host_messages.csv, from pieces of streams as the server delivers them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from simunix.launch.debug.host_messages import COLUMNS, FILE, HostMessages


def decode(begin: bytes) -> tuple[int, str] | None:
    """Messages of a digit, that many letters, which name it; `?` is no message."""
    if begin[:1] == b"?":
        raise ValueError(begin)
    size = 1 + int(begin[:1])
    return (size, begin[1:size].decode()) if len(begin) >= size else None


def end(number: int, host: str, port: int, program: str | None) -> Any:
    owner = SimpleNamespace(program=f"/usr/sbin/{program}") if program else None
    place = SimpleNamespace(port=port)
    return SimpleNamespace(number=number, host=SimpleNamespace(name=host), local=place, owner=owner, peer=None)


@dataclass
class World:
    """A log of messages, and a connection from a client on host a to a server on host b."""

    folder: Path
    now_ns: int = 0
    client: Any = field(default_factory=lambda: end(1, "a", 32768, "client"))
    server: Any = field(default_factory=lambda: end(2, "b", 80, "server"))

    def __post_init__(self) -> None:
        self.client.peer, self.server.peer = self.server, self.client
        self.log = HostMessages(self.folder / FILE, lambda: self.now_ns, {"b": decode})

    def at(self, seconds: float) -> World:
        self.now_ns = round(seconds * 1e9)
        return self

    def rows(self) -> list[list[str]]:
        self.log.close()
        with (self.folder / FILE).open(newline="") as file:
            first, *others = csv.reader(file)
        assert tuple(first) == COLUMNS
        return others


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.log.close()


def test_a_message_has_the_moment_of_its_first_byte_and_of_its_last(world: World) -> None:
    world.at(1).log.sent(world.client, 2)
    world.at(1.5).log.sent(world.client, 2)
    world.at(2).log.arrived(world.client, world.server, b"3a")
    world.at(2.25).log.arrived(world.client, world.server, b"bc")
    assert world.rows() == [["1.000000000", "2.250000000", "a", "32768", "client", "b", "80", "server", "4", "abc"]]


def test_several_messages_in_one_piece_and_both_directions(world: World) -> None:
    world.at(1).log.sent(world.client, 7)
    world.at(2).log.arrived(world.client, world.server, b"1x2yz1q"[:5])
    world.log.arrived(world.client, world.server, b"1q")
    world.at(3).log.sent(world.server, 1)
    world.at(4).log.arrived(world.server, world.client, b"0")
    found = [(row[0][:3], row[1][:3], row[2], row[5], row[8], row[9]) for row in world.rows()]
    assert found == [
        ("1.0", "2.0", "a", "b", "2", "x"),
        ("1.0", "2.0", "a", "b", "3", "yz"),
        ("1.0", "2.0", "a", "b", "2", "q"),
        ("3.0", "4.0", "b", "a", "1", ""),
    ]


def test_what_no_rjms_knows_is_a_row_for_each_piece(world: World) -> None:
    for moment, data in enumerate((b"1x", b"??", b"1y")):
        world.at(moment).log.sent(world.client, 2)
        world.log.arrived(world.client, world.server, data)
    assert [(row[8], row[9]) for row in world.rows()] == [("2", "x"), ("2", ""), ("2", "")]


def test_hosts_without_an_rjms_and_programs_that_are_not_there_yet(world: World) -> None:
    one, other = end(7, "x", 5, "p"), end(8, "y", 6, None)
    one.peer, other.peer = other, one
    world.log.sent(one, 3)
    world.log.arrived(one, other, b"1xy")
    assert world.rows() == [["0.000000000", "0.000000000", "x", "5", "p", "y", "6", "", "3", ""]]
