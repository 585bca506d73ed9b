"""The server tells the live page how busy links and storages are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from rsg_server.edge.loads import LINKS_MOST, links_of, storages_of
from rsg_server.storage.disks import Activity


def flow(rate: float, *links: Any) -> Any:
    return SimpleNamespace(rate=rate, links=links)


def link(name: str, width: float) -> Any:
    return SimpleNamespace(name=name, bandwidth_bytes_per_s=width)


def test_the_busiest_links_come_first() -> None:
    narrow, wide = link("narrow", 100.0), link("wide", 1000.0)
    assert links_of([flow(50.0, narrow, wide), flow(25.0, narrow), flow(0.0, link("dead", 0.0))]) == [
        ["narrow", 2, 75.0, 0.75],
        ["wide", 1, 50.0, 0.05],
        ["dead", 1, 0.0, 0.0],
    ]
    assert len(links_of(flow(1.0, link(f"{number}", 1.0)) for number in range(LINKS_MOST + 5))) == LINKS_MOST


def test_storages_tell_what_they_have_moved() -> None:
    activity = Activity()
    activity.in_flight = 2
    activity.by_direction[0].size_bytes, activity.by_direction[1].size_bytes = 10, 20
    disks: Any = SimpleNamespace(activities=lambda: iter([("n2 sda", Activity()), ("n1 sda", activity)]))
    assert list(storages_of(disks)) == [["n1 sda", 10, 20, 2], ["n2 sda", 0, 0, 0]]
