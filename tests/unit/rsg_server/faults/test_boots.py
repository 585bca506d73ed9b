"""Boots and shutdowns that take time: the host is on the network when the boot has ended, and a cut ends a boot."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rsg_server.faults.power import SECOND_NS, Power
from rsg_server.options import KernelOptions
from rsg_server.platform.power import Boot
from tests.unit.rsg_server.fakes import Fake, fake

SLOW = KernelOptions(boots={"h0": Boot(100 * SECOND_NS, 30 * SECOND_NS)})


@pytest.fixture
def slow() -> Iterator[Fake]:
    with fake(SLOW) as world:
        yield world


@pytest.fixture
def told(slow: Fake) -> list[tuple[float, str]]:
    """When h0 was switched to what, and when its programs were started; in seconds."""
    found: list[tuple[float, str]] = []
    power = slow.kernel.faults.power

    def note(host: str, what: str) -> None:
        assert host == "h0"
        found.append((slow.kernel.now_ns / SECOND_NS, what))

    power.on_switch = note
    power.on_boot = lambda host: note(host, "programs")
    return found


def test_a_boot_takes_its_time(slow: Fake, told: list[tuple[float, str]]) -> None:
    power = slow.kernel.faults.power
    power.cut("h0")
    power.start("h0")
    power.start("h0")  # a second time: nothing
    slow.pass_time(99 * SECOND_NS)
    assert power.is_off("h0") and power.boots_later("h0") and not power.starts_programs("h0")
    slow.pass_time(100 * SECOND_NS)
    assert not power.is_off("h0") and not power.boots_later("h0")
    assert told == [(0, "off"), (0, "booting"), (100, "on"), (100, "programs")]
    assert slow.kernel.log.counts["host_boot"] == slow.kernel.log.counts["host_on"] == 1


def test_a_cut_ends_a_boot(slow: Fake, told: list[tuple[float, str]]) -> None:
    power = slow.kernel.faults.power
    power.cut("h0")
    power.start("h0")
    slow.kernel.page.advance_to(50 * SECOND_NS)
    power.cut("h0")
    slow.kernel.page.advance_to(200 * SECOND_NS)
    slow.pass_time(200 * SECOND_NS)
    assert power.is_off("h0") and not power.boots_later("h0")
    power.start("h0")
    slow.pass_time(300 * SECOND_NS)
    assert [what for _, what in told] == ["off", "booting", "off", "booting", "on", "programs"] and told[-1][0] == 300


def test_a_shutdown_and_the_boot_behind_it_take_their_times(slow: Fake, told: list[tuple[float, str]]) -> None:
    slow.kernel.faults.power.shut_down("h0", 10 * SECOND_NS, boot_after_ns=20 * SECOND_NS)
    slow.pass_time(500 * SECOND_NS)
    assert told == [(0, "stopping"), (30, "off"), (50, "booting"), (150, "on"), (150, "programs")]


def test_other_hosts_boot_in_no_time(slow: Fake) -> None:
    power: Power = slow.kernel.faults.power
    power.cut("h1")
    power.start("h1")
    assert not power.is_off("h1")
