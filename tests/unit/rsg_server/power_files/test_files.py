"""Files about power: what programs set is the power state from then on, and what they read is what the meters have."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from ipaddress import ip_address

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.options import KernelOptions
from rsg_server.platform.host import Host
from rsg_server.platform.power import Boot, HostPower, PowerRange
from rsg_server.power_files.governor import GOVERNORS, Governor
from rsg_server.protocol import Op, PowerFile, Wait
from tests.unit.rsg_server.fakes import HOSTS, Fake, fake

NS = 10**9
POLICY = "/sys/devices/system/cpu/cpufreq/policy0"
PACKAGE = "/sys/devices/virtual/powercap/intel-rapl/intel-rapl"
POWER = HostPower((PowerRange(100, 120, 200), PowerRange(90, 100, 150), PowerRange(80, 85, 110), PowerRange(1, 1, 1)), 10)
METERED = Host("h0", (ip_address("10.0.1.1"),), 2, speeds_flops=(2e9, 1.5e9, 1e9, 0.0), power=POWER)


@pytest.fixture
def metered() -> Iterator[Fake]:
    with fake(KernelOptions(uptime_ns=NS), [METERED, HOSTS[1]]) as made:
        made.kernel.power_files.packages["h0"] = 2
        yield made


def write(world: Fake, path: str, text: str) -> int:
    found = world.kernel.power_files.write("h0", path, text)
    world.pass_time(world.kernel.now_ns)
    return found


def read(world: Fake, path: str) -> str:
    text = world.kernel.power_files.text("h0", path)
    assert text is not None and text.endswith("\n")
    return text[:-1]


def state(world: Fake) -> int:
    return world.kernel.energy.hosts.hosts["h0"].state


def test_a_frequency_is_a_power_state(metered: Fake) -> None:
    assert read(metered, f"{POLICY}/scaling_available_frequencies") == "2000000 1500000 1000000 "
    assert read(metered, f"{POLICY}/scaling_governor") == "performance"
    assert read(metered, f"{POLICY}/scaling_setspeed") == "<unsupported>"
    assert write(metered, f"{POLICY}/scaling_setspeed", "1000000") == errno.EINVAL
    assert write(metered, f"{POLICY}/scaling_governor", "userspace\n") == 0 and state(metered) == 0
    assert write(metered, f"{POLICY}/scaling_setspeed", "1200000\n") == 0
    assert state(metered) == 1 and read(metered, f"{POLICY}/scaling_cur_freq") == "1500000"
    assert metered.kernel.log.counts["power_state"] == 1


@pytest.mark.parametrize(
    ("writes", "expected"),
    [
        ((("scaling_governor", "powersave"),), 2),
        ((("scaling_max_freq", "1500000"),), 1),
        ((("scaling_max_freq", "1600000"),), 1),
        ((("scaling_governor", "powersave"), ("scaling_min_freq", "1100000")), 1),
        ((("scaling_max_freq", "1"),), 2),
        ((("scaling_governor", "ondemand"),), 2),  # nothing computes
    ],
)
def test_bounds_and_governors(metered: Fake, writes: tuple[tuple[str, str], ...], expected: int) -> None:
    for name, text in writes:
        assert write(metered, f"{POLICY}/{name}", text) == 0
    assert state(metered) == expected


@pytest.mark.parametrize("name", ["scaling_governor", "scaling_max_freq", "scaling_min_freq"])
@pytest.mark.parametrize("text", ["fast", "", "-5", "1e6", "\N{SNOWMAN}"])
def test_what_is_no_value_is_refused(metered: Fake, name: str, text: str) -> None:
    assert write(metered, f"{POLICY}/{name}", text) == errno.EINVAL
    assert state(metered) == 0 and "power_state" not in metered.kernel.log.counts


def test_what_cannot_be_written_and_what_is_not_there(metered: Fake) -> None:
    files = metered.kernel.power_files
    assert files.write("h0", f"{POLICY}/scaling_cur_freq", "1") == errno.EACCES
    assert files.write("h1", f"{POLICY}/scaling_governor", "powersave") == errno.ENOENT
    for host, path in (("h1", f"{POLICY}/scaling_cur_freq"), ("h0", f"{PACKAGE}:2/energy_uj"), ("h0", "/sys/power/state")):
        assert files.text(host, path) is None


def test_ondemand_goes_with_the_load(metered: Fake) -> None:
    write(metered, f"{POLICY}/scaling_governor", "ondemand")
    actor = metered.born()
    metered.park(actor, Wait.COMPUTE, a=4 * 10**9)
    metered.pass_time(NS)
    assert state(metered) == 0
    metered.pass_time(3 * NS)  # 4 Gflop at 2 Gflop/s: idle since 2 s
    assert state(metered) == 2
    assert metered.kernel.energy.hosts.hosts["h0"].meter.joules(3 * NS) == pytest.approx(2 * 160 + 80)


def test_the_limit_of_a_package_holds_from_the_first_moment_of_a_load(metered: Fake) -> None:
    """Two packages: 62 W each are 124 W, which the host draws under half its load in its second state (125 W) no longer."""
    assert read(metered, f"{PACKAGE}:1/constraint_0_power_limit_uw") == "100000000"
    assert write(metered, f"{PACKAGE}:1/constraint_0_power_limit_uw", "62000000") == 0
    assert state(metered) == 0, "idle, the host draws 100 W"
    metered.park(metered.born(), Wait.COMPUTE, a=10**9)
    metered.pass_time(NS // 2)
    assert state(metered) == 2
    assert metered.kernel.energy.hosts.hosts["h0"].meter.joules(NS // 2) == pytest.approx(97.5 / 2)
    assert write(metered, f"{PACKAGE}:1/constraint_0_power_limit_uw", "62500000") == 0 and state(metered) == 1
    assert write(metered, f"{PACKAGE}:1/constraint_0_power_limit_uw", "100000000") == 0 and state(metered) == 0


def test_a_limit_below_all_leaves_the_slowest_state(metered: Fake) -> None:
    write(metered, f"{PACKAGE}:0/constraint_1_power_limit_uw", "0")
    assert state(metered) == 2


def test_energies_are_those_of_the_meter(metered: Fake) -> None:
    metered.pass_time(10 * NS)
    metered.kernel.clock.advance_to(10 * NS)
    assert read(metered, "/sys/cray/pm_counters/energy").split()[:2] == ["1100", "J"]  # idle since 1 s before the run
    assert read(metered, "/sys/cray/pm_counters/power").split()[:2] == ["100", "W"]
    assert read(metered, f"{PACKAGE}:0/energy_uj") == "550000000"
    files = metered.kernel.power_files
    units, energy = files.register("h0", "/dev/cpu/1/msr", 0x606), files.register("h0", "/dev/cpu/1/msr", 0x611)
    assert units is not None and energy is not None
    assert int.from_bytes(energy, "little") * 0.5 ** (int.from_bytes(units, "little") >> 8 & 31) == 550
    assert files.register("h0", "/dev/cpu/1/msr", 0x10) is None and files.text("h0", "/dev/cpu/1/msr") == ""


def test_a_boot_forgets_what_programs_have_set() -> None:
    options = KernelOptions(boots={"h0": Boot(5 * NS)})
    with fake(options, [METERED, HOSTS[1]]) as world:
        write(world, f"{POLICY}/scaling_max_freq", "1000000")
        write(world, f"{PACKAGE}:0/constraint_0_power_limit_uw", "1")
        world.kernel.faults.power.cut("h0")
        world.kernel.faults.power.start("h0")
        world.pass_time(5 * NS)
        assert state(world) == 0 and read(world, f"{POLICY}/scaling_max_freq") == "2000000"
        assert not world.kernel.governors.of["h0"].limits_w


def test_messages_of_the_shim(metered: Fake) -> None:
    actor = metered.born()

    def ask(path: str, what: PowerFile, offset: int = 0, written: bytes = b"") -> object:
        return metered.send(actor, msgpack.packb([int(Op.POWER_FILE), path.encode(), int(what), offset, written]))

    assert ask(f"{POLICY}/cpuinfo_max_freq", PowerFile.TEXT) == (0, b"2000000\n")
    assert ask(f"{POLICY}/scaling_max_freq", PowerFile.WRITE, written=b"x") == (-errno.EINVAL, b"")
    assert ask(f"{POLICY}/scaling_max_freq", PowerFile.WRITE, written=b"1500000\0\0\1") == (0, b"")
    assert ask("/dev/cpu/0/msr", PowerFile.REGISTER, 0x619) == (0, bytes(8))
    assert ask("/dev/cpu/0/msr", PowerFile.REGISTER, 1) == (-errno.EIO,)
    assert ask("/sys/nothing", PowerFile.TEXT) == (-errno.ENOENT,)


FREQUENCIES = st.integers(0, 3_000_000)


@given(st.sampled_from(GOVERNORS), FREQUENCIES, FREQUENCIES, FREQUENCIES, st.floats(0, 1), st.none() | st.floats(0, 300))
def test_the_state_is_always_one_that_computes_and_within_its_bounds(
    name: str, least: int, most: int, chosen: int, load: float, limit_w: float | None
) -> None:
    governor = Governor((2_000_000, 1_500_000, 1_000_000, 0), POWER, 0, 0)
    governor.name, governor.chosen_khz = name, chosen
    governor.least_khz, governor.most_khz = (min(max(khz, 1_000_000), 2_000_000) for khz in (least, most))
    if limit_w is not None:
        governor.limits_w["0 0"] = limit_w
    found = governor.wanted(load)
    assert governor.khz[found] and governor.khz[found] <= governor.most_khz
    draws = POWER.states[found].watts(load)
    assert limit_w is None or draws <= limit_w or found == 2
