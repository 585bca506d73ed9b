"""Hosts go off at once or in good order, and come back when they are told to."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from rsg_server.faults.power import LAST_WORDS_NS, LOOK_NS, SECOND_NS, Power
from rsg_server.process.actor import State
from rsg_server.protocol import Wait, Wake
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.real_process import real_process

TOLD: list[str] = []
"""What `on_boot` and `on_loss` were told in a test."""


@pytest.fixture
def power(world: Fake) -> Power:
    power = world.kernel.faults.power
    power.on_boot.connect(lambda host: TOLD.append(f"{host} boots"))
    power.on_loss.connect(lambda host: TOLD.append(f"{host} is lost"))
    TOLD.clear()
    return power


def test_a_power_cut_ends_all_processes_of_the_host_and_no_other(world: Fake, power: Power) -> None:
    lost, kept = world.born("h0"), world.born("h1")
    power.cut("h0")
    power.cut("h0")  # a second time: nothing
    assert lost.state is State.DEAD and kept.state is not State.DEAD
    assert list(world.kernel.processes) == [kept.process.number]
    assert power.is_off("h0") and not power.is_off("h1")
    assert TOLD == ["h0 is lost"] and world.kernel.log.counts["host_off"] == 1


def test_a_power_cut_kills_real_processes(world: Fake, power: Power) -> None:
    statuses = []
    with real_process(world) as actor:
        init = threading.Thread(target=lambda: statuses.append(os.waitpid(actor.process.global_pid, 0)))
        init.start()
        power.cut("h0")
        assert actor.process.dead
        init.join()
    assert statuses == [(actor.process.global_pid, signal.SIGKILL)]


def test_only_a_host_that_is_off_boots(world: Fake, power: Power) -> None:
    power.start("h0")
    assert TOLD == []
    power.cut("h0")
    power.start("h0")
    assert not power.is_off("h0") and TOLD == ["h0 is lost", "h0 boots"]


def test_a_planned_boot_is_known_until_it_has_come(world: Fake, power: Power) -> None:
    power.cut("h0")
    power.start_later("h0", 5 * SECOND_NS)
    assert power.boots_later("h0") and not power.starts_programs("h0")
    world.pass_time(5 * SECOND_NS - 1)
    assert power.is_off("h0")
    world.pass_time(5 * SECOND_NS)
    assert not power.boots_later("h0") and power.starts_programs("h0")


def test_a_shutdown_says_so_and_waits(world: Fake, power: Power) -> None:
    actor = world.park(world.born("h0"), Wait.TIME)
    power.shut_down("h0", 10 * SECOND_NS)
    assert actor.state is State.READY and actor.reply[0] == Wake.SIGNAL
    assert not power.starts_programs("h0") and not power.is_off("h0")
    world.pass_time(10 * SECOND_NS - 1)
    assert not actor.process.dead
    world.pass_time(10 * SECOND_NS)
    assert actor.process.dead and not power.is_off("h0")
    world.pass_time(10 * SECOND_NS + LAST_WORDS_NS)
    assert power.is_off("h0")


def test_a_shutdown_is_over_soon_after_the_last_process(world: Fake, power: Power) -> None:
    process = world.born("h0").process
    power.shut_down("h0", 10 * SECOND_NS)
    world.kernel.deaths.reap(process)
    world.pass_time(LOOK_NS + LAST_WORDS_NS - 1)
    assert not power.is_off("h0")
    world.pass_time(LOOK_NS + LAST_WORDS_NS)
    assert power.is_off("h0")


def test_a_reboot_is_off_for_as_long_as_it_is_told(world: Fake, power: Power) -> None:
    power.shut_down("h0", 10 * SECOND_NS, boot_after_ns=60 * SECOND_NS)
    assert power.boots_later("h0")
    world.pass_time(LAST_WORDS_NS + 60 * SECOND_NS - 1)
    assert power.is_off("h0")
    world.pass_time(LAST_WORDS_NS + 60 * SECOND_NS)
    assert not power.is_off("h0") and not power.boots_later("h0")


def test_a_power_cut_ends_a_shutdown_and_the_boot_after_it(world: Fake, power: Power) -> None:
    world.born("h0")
    power.shut_down("h0", 10 * SECOND_NS, boot_after_ns=SECOND_NS)
    power.cut("h0")
    assert power.is_off("h0") and not power.boots_later("h0")
    world.pass_time(100 * SECOND_NS)
    assert power.is_off("h0") and TOLD == ["h0 is lost"]
