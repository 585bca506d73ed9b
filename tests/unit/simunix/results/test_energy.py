"""The energy of a run: files in Batsim's formats, and the energy of jobs, from meters that a test moves by hand."""

from __future__ import annotations

import csv
import importlib.util
import subprocess
import sys
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from rsg_server.energy.hosts import OFF, ON, STOPPING, HostMeters
from rsg_server.energy.links import LinkMeters
from rsg_server.platform.host import Host
from rsg_server.platform.power import Enclosure, HostPower, PowerRange
from simunix.metrics.energy import consumed_energy, mean_power
from simunix.metrics.jobs import read_jobs_csv
from simunix.report.batsim_files import write_all
from simunix.results.energy import Consumption, consumption
from simunix.results.machines import Machines
from tests.unit.simunix.report.runs import ran

NS = 10**9
POWER = HostPower((PowerRange(100, 120, 200), PowerRange(90, 100, 150)), 10)
MACHINES = Machines({"a": 4, "b": 4})


class World:
    """Two nodes of four cores in one enclosure, and a head node that is no machine."""

    is_metered = True

    def __init__(self) -> None:
        self.now_s = 0.0
        hosts = [Host(name, (ip_address("10.0.0.1"),), 4, power=POWER) for name in ("a", "b", "head")]
        self.hosts = HostMeters(lambda: round(self.now_s * NS), hosts, [Enclosure("chassis", ("a", "b"), 50)])
        self.links = LinkMeters(lambda: 0, None, ())  # type: ignore[arg-type]

    def at(self, now_s: float) -> HostMeters:
        self.now_s = now_s
        return self.hosts

    def consumption(self, end_s: float) -> Consumption:
        found = consumption(self, MACHINES, {}, round(end_s * NS))  # type: ignore[arg-type]
        assert found is not None
        return found


@pytest.fixture
def world() -> World:
    """a has 2 cores in use from 10 s to 20 s, power state 1 from 40 s on; b shuts down at 30 s, is off from 32 s to 60 s."""
    world = World()
    world.at(10).loaded("a", 2)
    world.at(20).loaded("a", 0)
    world.at(30).switched("b", STOPPING)
    world.at(32).switched("b", OFF)
    world.at(40).changed_state("a", 1)
    world.at(60).switched("b", ON)
    return world


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


JOBS = [ran(1, 0, 10, 20, "a", cores=4), ran(2, 0, 10, 25, "a,b", cores=8), ran(3, 0, 12, 22, "b", cores=1)]


def written(world: World, folder: Path, end_s: float = 100.0, jobs: Any = JOBS) -> Path:
    found = world.consumption(end_s)
    write_all(folder, jobs, MACHINES, 1.0, found)
    found.write(folder, jobs)
    return folder


def test_a_job_has_the_energy_of_its_part_of_its_hosts(world: World, tmp_path: Path) -> None:
    jobs = read_jobs_csv(written(world, tmp_path) / "jobs.csv")
    both = (10 * 160 + 5 * 100) + 15 * 100
    assert list(jobs["consumed_energy"]) == [10 * 160, both, 10 * 100 / 4]
    assert consumed_energy(jobs) == 1600 + both + 250 and list(mean_power(jobs)) == [160, both / 15, 25]


def test_a_job_on_a_host_without_watts_has_no_energy(world: World) -> None:
    del world.hosts.hosts["b"]
    placed = replace(JOBS[1], allocated_resources="0-7")
    assert [row.consumed_energy for row in world.consumption(100).of_jobs([placed, JOBS[0]])] == [None, None]


def test_the_energy_of_each_thing_and_of_all(world: World, tmp_path: Path) -> None:
    found = {row["name"]: float(row["joules"]) for row in rows(written(world, tmp_path) / "energy.csv")}
    a, b = 10 * 100 + 10 * 160 + 20 * 100 + 60 * 90, 32 * 100 + 28 * 10 + 40 * 100
    assert found == {"a": a, "b": b, "head": 10000, "chassis": 5000, "": a + b + 15000}


def test_pstate_changes_as_batsim_writes_them(world: World, tmp_path: Path) -> None:
    text = (written(world, tmp_path) / "pstate_changes.csv").read_text()
    assert text == "time,machine_id,new_pstate\n0,0-7,0\n32,4-7,-1\n40,0-3,1\n60,4-7,0\n"


def test_consumed_energy_as_batsim_writes_it(world: World, tmp_path: Path) -> None:
    found = rows(written(world, tmp_path, jobs=JOBS[:1]) / "consumed_energy.csv")
    assert [tuple(row.values()) for row in found] == [
        ("10", "2500", "s", "290", "250"),
        ("20", "5600", "e", "290", "310"),
        ("32", "8600", "p", "180", "250"),
        ("40", "9880", "p", "160", "160"),
        ("60", "12880", "p", "270", "150"),
    ]


def test_two_events_of_one_moment_have_no_power_between_them(world: World, tmp_path: Path) -> None:
    found = rows(written(world, tmp_path) / "consumed_energy.csv")
    assert [row["epower"] for row in found if row["time"] == "10"] == ["250", "NA"]


def test_machines_that_are_off_neither_idle_nor_compute(world: World, tmp_path: Path) -> None:
    late = [*JOBS, ran(4, 0, 40, 70, "a", cores=4)]
    found = rows(written(world, tmp_path, jobs=late) / "machine_states.csv")
    names = ("nb_sleeping", "nb_switching_off", "nb_idle", "nb_computing")
    states = {float(row["time"]): [int(row[name]) for name in names] for row in found}
    assert (states[30], states[32], states[40], states[60], states[70]) == (
        [0, 4, 4, 0],
        [4, 0, 4, 0],
        [4, 0, 0, 4],
        [0, 0, 4, 4],
        [0, 0, 8, 0],
    )


def test_the_schedule_has_joules_and_switches(world: World, tmp_path: Path) -> None:
    late = [*JOBS, ran(4, 5, 70, 90, "a", cores=4)]
    (found,) = rows(written(world, tmp_path, jobs=late) / "schedule.csv")
    assert float(found["consumed_joules"]) == 12880 + 30 * 240
    expected = {"nb_grouped_switches": "3", "nb_machine_switches": "12", "time_sleeping": "112", "time_switching_off": "8"}
    assert {key: found[key] for key in expected} == expected


def test_without_nodes_all_hosts_with_watts_are_machines(world: World) -> None:
    found = consumption(world, Machines({}), {"a": 4, "b": 4, "head": 4, "other": 1}, NS)  # type: ignore[arg-type]
    assert found is not None and found.machines.cores == {"a": 4, "b": 4, "head": 4}


def test_without_watts_nothing_is_consumed(world: World) -> None:
    world.is_metered = False
    assert consumption(world, MACHINES, {}, NS) is None  # type: ignore[arg-type]


EVALYS = """
import sys, matplotlib
matplotlib.use("Agg")
from evalys.mstates import MachineStatesChanges
from evalys.pstates import PowerStatesChanges
states = PowerStatesChanges(sys.argv[1] + "/pstate_changes.csv")
for row in states.pseudo_jobs.itertuples():
    print(row.begin, row.end, row.pstate, states.intervals[row.interval_id])
print(MachineStatesChanges(sys.argv[1] + "/machine_states.csv").df.nb_sleeping.max())
"""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("evalys") is None, reason="needs evalys")
def test_evalys_reads_power_states(world: World, tmp_path: Path) -> None:
    late = [*JOBS, ran(4, 0, 40, 70, "a", cores=4)]
    folder = written(world, tmp_path, jobs=late)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", EVALYS, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "0.0 32.0 0 [ProcInt(inf=4, sup=7)]",
        "0.0 40.0 0 [ProcInt(inf=0, sup=3)]",
        "32.0 60.0 -1 [ProcInt(inf=4, sup=7)]",
        "40.0 inf 1 [ProcInt(inf=0, sup=3)]",
        "60.0 inf 0 [ProcInt(inf=4, sup=7)]",
        "4",
    ]
