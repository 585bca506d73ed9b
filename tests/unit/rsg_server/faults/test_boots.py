"""Boots and shutdowns that take time: the host is on the network when the boot has ended, and a cut ends a boot."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rsg_server.faults.changes import HostChange
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

    power.on_switch.connect(note)
    power.on_boot.connect(lambda host: note(host, "programs"))
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
    slow.kernel.clock.advance_to(50 * SECOND_NS)
    power.cut("h0")
    slow.kernel.clock.advance_to(200 * SECOND_NS)
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


def test_a_boot_that_hangs_draws_on_until_the_power_is_cut(slow: Fake, told: list[tuple[float, str]]) -> None:
    power, faults = slow.kernel.faults.power, slow.kernel.faults
    faults.apply(HostChange("h0", "hang"))
    power.cut("h0")
    power.start("h0")
    slow.pass_time(500 * SECOND_NS)
    assert power.what("h0") == "booting" and not power.boots_later("h0")
    assert slow.kernel.log.counts["boot_hangs"] == 1 and "host_on" not in slow.kernel.log.counts
    power.start("h0")  # the button of a host that hangs does nothing
    slow.kernel.clock.advance_to(500 * SECOND_NS)
    power.cut("h0")
    power.start("h0")
    slow.pass_time(700 * SECOND_NS)
    assert told[-2:] == [(600, "on"), (600, "programs")], "only one boot hangs"


def test_boots_hang_by_chance_and_the_seed_decides() -> None:
    def boots(seed: int, failure: float) -> str:
        options = KernelOptions(seed=seed, boots={"h0": Boot(failure=failure), "h1": Boot(failure=failure)})
        found = ""
        with fake(options) as world:
            power = world.kernel.faults.power
            for _ in range(40):
                for host in ("h0", "h1"):
                    power.cut(host)
                    power.start(host)
                    world.pass_time(world.kernel.now_ns)
                    found += "-" if power.is_off(host) else "+"
        return found

    assert boots(1, 0.3) == boots(1, 0.3) != boots(2, 0.3)
    assert boots(1, 1) == "-" * 80 and boots(1, 0) == "+" * 80
    assert 10 < boots(1, 0.3).count("-") < 40
