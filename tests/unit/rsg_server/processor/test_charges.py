"""Charges: their file, what they come to, and a replay of them."""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import ServerError, SimunixError
from rsg_server.options import KernelOptions
from rsg_server.platform.host import Host
from rsg_server.processor.charges import EXEC, POINT_SHIFT, PREEMPTED, Charges, Charging
from rsg_server.processor.costs import CostTable
from rsg_server.processor.policies import Policies
from rsg_server.processor.recording import HEADER, Charge, Recorder, read_charges
from rsg_server.processor.tsc import check_tsc, cycle_ns
from rsg_server.protocol import Op, Wait
from tests.unit.rsg_server.fakes import fake

HOST = Host("h", (ip_address("10.0.0.1"),))
RAW_NICE, NOBODY_BLOCKED, NEVER = 20, 0, -1
RECORDED = [Charge(1, 3, False, 60_000, 10), Charge(2, 0, True, 10**9, 70_000), Charge(1, 1, False, 0, 70_000)]


def charges_of(charging: Charging) -> Charges:
    return Charges(charging, CostTable(os.memfd_create("table"), charging.prices))


def written(path: Path, charges: list[Charge]) -> Path:
    recorder = Recorder(path)
    for charge in charges:
        recorder.write(charge)
    recorder.close()
    return path


def place(points: int, flags: int = 0) -> int:
    return points << POINT_SHIFT | flags | RAW_NICE


@given(
    st.lists(st.tuples(*[st.integers(0, 2**63)] * 2, st.booleans(), *[st.integers(0, 2**60)] * 2, st.booleans()), max_size=20)
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, bool, int, int, bool]]
) -> None:
    charges = sorted((Charge(*row) for row in rows), key=lambda charge: charge.now_ns)
    assert read_charges(written(tmp_path_factory.mktemp("charges") / "file", charges)) == charges


def test_a_charge_takes_few_bytes(tmp_path: Path) -> None:
    path = written(tmp_path / "file", [Charge(17, 12, False, 80_000, 80_000 * number) for number in range(1000)])
    assert path.stat().st_size - len(HEADER) < 9000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a recording of this version of simunix; expected it to begin with 'simunix charges 2'"),
        (b"simunix charges 0\n", "not a recording of this version"),
        (HEADER + b"\x01\x02\x03", "cut off: the last charge is not whole"),
        (HEADER + b"\x01\x02\x03\x80", "cut off: the last charge is not whole"),
        (HEADER + b"\x01\x02\x03\x04\x80", "cut off: the last charge is not whole; only a run that has ended has"),
        (None, "No such file or directory; a run with cpu_policy: charged writes this file"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SimunixError, match=message) as raised:
        read_charges(path)
    assert raised.value.exit_code == 2
    assert str(path) in str(raised.value)


def test_a_charge_is_flops_of_a_core_of_this_computer(tmp_path: Path) -> None:
    charges = charges_of(Charging(reference_flops=2e9, recording=tmp_path / "file"))
    assert charges.charge(1, 60_000, place(3), 5, now_ns=10) == 60_000
    slow, fast = (Host("h", (ip_address("10.0.0.1"),), speeds_flops=(speed,)) for speed in (1e9, 4e9))
    assert [charges.cpu_ns(60_000, host) for host in (slow, fast)] == [120_000, 30_000]
    assert [charges.flops(1, charges.cpu_ns(60_000, host), host) for host in (slow, fast)] == [120_000, 120_000]
    assert charges.charge(2, 0, place(0, PREEMPTED), 5, now_ns=20) == 0
    assert (charges.count, charges.total_ns) == (2, 60_000)
    charges.close()
    assert read_charges(tmp_path / "file") == [Charge(1, 3, False, 60_000, 10), Charge(2, 0, True, 0, 20)]


@pytest.mark.parametrize(("cpu_ns", "where"), [(-1, 0), (1 << 61, 0), (1, -1), (1, 1 << 40)])
def test_an_impossible_charge_is_refused(cpu_ns: int, where: int) -> None:
    with pytest.raises(ValueError, match="a charge of"):
        charges_of(Charging()).charge(1, cpu_ns, where, 0, 0)


def test_the_cpu_clock_of_an_exec_is_kept_for_the_new_image() -> None:
    charges = charges_of(Charging())
    charges.charge(1, 60_000, place(1), 77, 0)
    charges.charge(2, 60_000, place(1, EXEC), 88, 0)
    assert [charges.take_clock_ns(actor) for actor in (1, 2, 2)] == [-1, 88, -1]


def replaying(tmp_path: Path) -> tuple[Charges, list[str]]:
    charges, told = charges_of(Charging(replay=written(tmp_path / "file", RECORDED))), []
    charges.on_departure.connect(told.append)
    return charges, told


def test_a_replay_charges_what_is_recorded_whatever_is_said(tmp_path: Path) -> None:
    charges, told = replaying(tmp_path)
    assert [charges.next_of(actor) for actor in (1, 2, 3)] == [60_000 << 24 | 1 + 2 * 3, 10**9 << 24 | 1 + 2 * 0 + 1, 0]
    assert charges.charge(1, 0, place(3), 0, 10) == 60_000
    assert charges.charge(2, 0, place(0, PREEMPTED), 0, 70_000) == 10**9
    assert charges.charge(1, 0, place(1), 0, 70_000) == 0
    assert charges.next_of(1) == 0
    charges.close()
    assert told == []


def test_a_replay_says_once_where_it_departs_and_goes_on(tmp_path: Path) -> None:
    charges, told = replaying(tmp_path)
    charges.charge(1, 0, place(3), 0, 10)
    assert charges.charge(2, 0, place(0, PREEMPTED), 0, 80_000) == 10**9
    assert charges.charge(3, 55_000, place(1), 0, 80_000) == 55_000
    assert charges.next_of(1) == 0
    charges.close()
    assert told == [
        "departs from the recording at charge 2: actor 2 at 0.000080000 s, recorded: actor 2 at 0.000070000 s; from here on "
        "computing takes what the table of costs says (modelled)"
    ]


def test_a_replay_that_ends_early_has_departed(tmp_path: Path) -> None:
    charges, told = replaying(tmp_path)
    charges.charge(1, 0, place(3), 0, 10)
    charges.close()
    assert told == ["ends before the recording does, which has 2 more charges"]


def test_a_charge_passes_on_a_core_of_the_host() -> None:
    with fake(KernelOptions(charging=Charging())) as world:
        actor = world.born()
        message = [int(Op.PARK), int(Wait.CHARGE), 24, NEVER, NOBODY_BLOCKED, 5_000_000, place(1), 9]
        assert world.send(actor, msgpack.packb(message)) is None
        assert world.kernel.timeline.next_ns == 5_000_000


def test_what_a_signal_leaves_undone_is_added_to_the_next_charge() -> None:
    charges = charges_of(Charging())
    assert charges.flops(1, 60_000, HOST) == 60_000
    assert charges.ended(1, 20_000) == 0
    assert charges.flops(1, 50_000, HOST) == 70_000
    assert charges.ended(1, 0) == 0
    assert charges.flops(1, 50_000, HOST) == 50_000


def test_programs_with_a_policy_that_have_not_run_are_told_with_those_that_are_called_alike() -> None:
    charges = charges_of(Charging(policies=Policies(programs={"slurmctdl": "charged", "slurmd": "charged", "nobody": "free"})))
    for program in ("/usr/sbin/slurmctld", "/usr/sbin/slurmd"):
        charges.policy_of(program, "", "a")
    assert charges.never_seen() == {"slurmctdl": ["slurmctld"], "nobody": []}
    charges.close()


def test_nothing_is_charged_under_the_free_policy() -> None:
    with fake() as world:
        actor = world.born()
        message = [int(Op.PARK), int(Wait.CHARGE), 24, NEVER, NOBODY_BLOCKED, 5_000_000, place(1), 9]
        world.send(actor, msgpack.packb(message))
        assert world.kernel.timeline.next_ns is None
        assert "malformed message (a charge under the CPU policy free)" in " ".join(world.kernel.warner.counts)


def test_a_counter_whose_speed_changes_is_refused(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor : 0\nflags\t\t: fpu tsc constant_tsc\n")
    with pytest.raises(ServerError, match=r"not constant \(nonstop_tsc missing"):
        check_tsc(cpuinfo)
    cpuinfo.write_text("flags : tsc constant_tsc nonstop_tsc\n")
    check_tsc(cpuinfo)


def test_the_counter_counts() -> None:
    assert 2**32 / 20 < cycle_ns() < 2**32 * 20  # 50 MHz to 20 GHz


@pytest.mark.parametrize(
    ("program", "of_process", "host", "policy"),
    [
        ("/usr/sbin/slurmctld", "free", "a", "charged"),  # the program's policy comes first
        ("/usr/bin/python3", "charged", "a", "charged"),
        ("/usr/bin/python3", "", "a", "charged"),
        ("/usr/bin/python3", "free", "a", "free"),
        ("/usr/bin/python3", "", "b", "free"),
    ],
)
def test_the_policy_of_a_program_is_its_own_its_processs_its_hosts_or_the_default(
    program: str, of_process: str, host: str, policy: str
) -> None:
    policies = Policies(default="free", hosts={"a": "charged"}, programs={"slurmctld": "charged"})
    assert policies.of(program, of_process, host) == policy


@pytest.mark.parametrize(
    ("policies", "summary", "charges"),
    [
        (Policies(), "free", False),
        (Policies(default="charged"), "charged", True),
        (Policies(default="charged", programs={"sbatch": "free"}), "mixed", True),
        (Policies(hosts={"a": "charged"}), "mixed", True),
        (Policies(default="modelled"), "modelled", False),
    ],
)
def test_what_run_json_says_of_policies(policies: Policies, summary: str, charges: bool) -> None:
    assert (policies.summary, "charged" in policies.all) == (summary, charges)
