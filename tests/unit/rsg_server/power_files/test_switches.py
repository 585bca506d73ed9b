"""Power switches and meters of hosts that are wired to another host, as files of that host."""

from __future__ import annotations

import errno
from collections.abc import Iterator

import pytest

from rsg_server.options import KernelOptions
from rsg_server.platform.power import Boot
from tests.unit.rsg_server.fakes import HOSTS, Fake, fake
from tests.unit.rsg_server.power_files.test_files import METERED

NS = 10**9
WIRES = "/run/simunix/power/h0"


@pytest.fixture
def wired() -> Iterator[Fake]:
    with fake(KernelOptions(boots={"h0": Boot(5 * NS)}), [METERED, HOSTS[1]]) as made:
        made.kernel.switches.of["h1"] = ("h0",)
        yield made


def write(world: Fake, text: str, after_ns: int = 0) -> int:
    found = world.kernel.power_files.write("h1", f"{WIRES}/state", text)
    world.pass_time(world.kernel.now_ns + after_ns)
    return found


def state(world: Fake) -> str | None:
    return world.kernel.power_files.text("h1", f"{WIRES}/state")


def test_what_is_written_is_done(wired: Fake) -> None:
    assert state(wired) == "on\n"
    assert write(wired, "off\n") == 0 and state(wired) == "off\n"
    assert write(wired, "cycle") == 0 and state(wired) == "off\n", "a host without power stays so"
    assert write(wired, "on") == 0 and state(wired) == "booting\n"
    wired.pass_time(5 * NS)
    assert state(wired) == "on\n"
    assert write(wired, "shutdown") == 0 and state(wired) == "stopping\n"
    wired.pass_time(10 * NS)
    assert state(wired) == "off\n"


def test_a_cycle_boots_two_seconds_after_the_cut(wired: Fake) -> None:
    write(wired, "cycle", NS)
    assert state(wired) == "off\n"
    wired.pass_time(2 * NS)
    assert state(wired) == "booting\n"
    wired.pass_time(7 * NS)
    assert state(wired) == "on\n"


def test_watts_and_joules_are_those_of_the_meter(wired: Fake) -> None:
    files = wired.kernel.power_files
    assert files.text("h1", f"{WIRES}/watts") == "100\n"
    wired.kernel.clock.advance_to(3 * NS)
    write(wired, "off")
    assert files.text("h1", f"{WIRES}/watts") == "10\n" and files.text("h1", f"{WIRES}/joules") == "300.000\n"


def test_what_is_refused(wired: Fake) -> None:
    files = wired.kernel.power_files
    assert write(wired, "burn") == errno.EINVAL and state(wired) == "on\n"
    assert files.write("h1", f"{WIRES}/watts", "5") == errno.EACCES
    for host, path in (("h0", f"{WIRES}/state"), ("h1", "/run/simunix/power/h1/state"), ("h1", f"{WIRES}/colour")):
        assert files.text(host, path) is None and files.write(host, path, "off") != 0
    assert state(wired) == "on\n"


def test_of_a_host_without_watts_the_switch_is_known_only(wired: Fake) -> None:
    wired.kernel.switches.of["h0"] = ("h1",)
    assert wired.kernel.power_files.text("h0", "/run/simunix/power/h1/watts") == "0\n"
    assert wired.kernel.power_files.text("h0", "/run/simunix/power/h1/state") == "on\n"


def test_a_limit_from_outside_slows_a_host_down_and_outlives_its_boot(wired: Fake) -> None:
    files, limit = wired.kernel.power_files, f"{WIRES}/limit"
    assert files.text("h1", limit) == "0\n"
    governor = wired.kernel.governors.of["h0"]
    slowest = governor.power.states[2].idle_w  # the fourth has no speed
    assert files.write("h1", limit, f"{int(slowest)}\n") == 0
    wired.pass_time(wired.kernel.now_ns)
    assert files.text("h1", limit) == f"{int(slowest)}\n" and governor.state == 2
    assert (files.text("h0", "/sys/cray/pm_counters/power_cap") or "").startswith(f"{int(slowest)} W ")
    write(wired, "cycle", 10 * NS)
    wired.pass_time(wired.kernel.now_ns + 10 * NS)
    assert state(wired) == "on\n" and files.text("h1", limit) == f"{int(slowest)}\n"
    assert governor.state == 2
    assert files.write("h1", limit, "0") == 0
    wired.pass_time(wired.kernel.now_ns)
    assert governor.state == 0
    for wrong in ("-5", "1.5", "much", ""):
        assert files.write("h1", limit, wrong) == errno.EINVAL


def test_a_host_without_power_states_takes_no_limit(wired: Fake) -> None:
    wired.kernel.switches.of["h0"] = ("h1",)
    assert wired.kernel.power_files.write("h0", "/run/simunix/power/h1/limit", "100") == errno.EINVAL
    assert wired.kernel.power_files.text("h0", "/run/simunix/power/h1/limit") == "0\n"
