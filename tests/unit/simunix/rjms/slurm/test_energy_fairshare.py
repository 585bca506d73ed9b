"""Fair-share by energy: what slurm.conf and the controller are told, and the program's arithmetic, without a Slurm."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.planning.expand import Expansion, expand
from simunix.rjms.scenario import load
from simunix.rjms.slurm.own_configuration import read_settings
from simunix.rjms.slurm.power.guest import energy_fairshare
from simunix.rjms.slurm.power.guest.energy_fairshare import FairShare, ended_jobs, factors, period_s, rows, together
from tests.needs import needs, needs_root
from tests.unit.simunix.rjms.slurm.test_power_sections import HOSTS, files

A, B, C = ("lab", "ann"), ("lab", "bob"), ("lab", "cy")
PLAN = {"policy": "efs", "weight": 1000, "interval": 30.0, "patience": 300}
ROOT_ONLY = needs_root("hosts have meters, and users of their own, only if simunix runs as root")


def planned(folder: Path, keys: str, hosts: str = HOSTS) -> Expansion:
    (folder / "s.yaml").write_text(
        f"{hosts}slurm: {{controller: ctl, nodes: 'n[1-36]', accounting_storage_type: slurmdbd, {keys}}}\n"
    )
    return expand(load(folder / "s.yaml"), folder, checked=False)


@needs("slurmctld", "munged", "slurmdbd", "mariadbd")
def test_slurm_conf_gets_what_it_lacks(tmp_path: Path) -> None:
    found = planned(tmp_path, "energy_fairshare: {policy: fs+efs}, parameters: {AcctGatherNodeFreq: 7, PriorityWeightAge: 3}")
    texts = files(found)
    settings = read_settings(texts["/etc/slurm/slurm.conf"])
    assert settings["acctgatherenergytype"] == "acct_gather_energy/pm_counters" and settings["acctgathernodefreq"] == "7"
    assert settings["jobacctgathertype"] == "jobacct_gather/linux" and settings["accountingstoragetres"] == "energy"
    assert (settings["prioritytype"], settings["priorityflags"]) == ("priority/multifactor", "NO_FAIR_TREE")
    plan = json.loads(texts["/etc/slurm/energy_fairshare.json"])
    assert plan == {"policy": "fs+efs", "weight": 100000, "interval": 30.0, "patience": 300}
    (process,) = [each for each in found.plan.processes if each.name == "energy-fairshare"]
    assert (
        process.serves
        and process.host == "ctl"
        and process.argv[1:] == tuple(f"/etc/slurm/energy_fairshare.{ending}" for ending in ("py", "json"))
    )


@pytest.mark.parametrize(
    ("keys", "hosts", "message"),
    [
        ("energy_fairshare: {interval: 100ms}", HOSTS, r"slurm.energy_fairshare.interval: expected 1 s"),
        ("energy_fairshare: {}, accounting_storage_type: none", HOSTS, r"slurm.energy_fairshare: joules of jobs"),
        pytest.param(
            "energy_fairshare: {}, parameters: {PriorityType: priority/basic}",
            HOSTS,
            r"PriorityType=priority/basic knows no",
            marks=ROOT_ONLY,
        ),
        pytest.param(
            "energy_fairshare: {}",
            HOSTS.replace("wattage", "# wattage").replace("enclosures", "# enc"),
            r"n1 has no wattage",
            marks=ROOT_ONLY,
        ),
        ("energy_fairshare: {weight: 0}", HOSTS, r"slurm.energy_fairshare.weight"),
        ("energy_fairshare: {policy: fair}", HOSTS, r"slurm.energy_fairshare.policy"),
    ],
)
def test_what_does_not_fit_is_one_line(tmp_path: Path, keys: str, hosts: str, message: str) -> None:
    if "accounting_storage_type" in keys:
        (tmp_path / "s.yaml").write_text(f"{hosts}slurm: {{controller: ctl, nodes: 'n[1-36]', {keys}}}\n")
        with pytest.raises(SimunixError, match=message) as raised:
            expand(load(tmp_path / "s.yaml"), tmp_path, checked=False)
    else:
        with pytest.raises(SimunixError, match=message) as raised:
            planned(tmp_path, keys, hosts)
    assert "\n" not in str(raised.value)


def test_a_factor_falls_with_the_part_of_the_joules() -> None:
    equal = {A: 1.0, B: 1.0, C: 1.0}
    assert factors({}, equal, 1) == {A: 1, B: 1, C: 1}
    found = factors({A: 100.0, B: 50.0, C: 150.0}, equal, 1)
    assert found[A] == pytest.approx(0.5)  # exactly its share
    assert found[B] > found[A] > found[C] == pytest.approx(2**-1.5)
    assert factors({A: 100.0, B: 100.0}, {A: 3.0, B: 1.0}, 1) == {A: pytest.approx(2 ** (-2 / 3)), B: pytest.approx(0.25)}
    assert factors({A: 1.0}, {A: 1.0, B: 0.0}, 2) == {A: pytest.approx(math.sqrt(0.5)), B: 0}


def test_both_factors_count_as_much() -> None:
    assert together({A: 0.4, B: 0.2}, {A: 0.1, B: 0.2}) == {A: pytest.approx(0.75), B: pytest.approx(0.75)}
    assert together({A: 0.5, B: 0.25}, {}) == {A: 0.5, B: 0.25}


def test_what_slurm_prints() -> None:
    assert period_s("7-00:00:00") == 7 * 86400 and period_s("00:01:30") == 90 and period_s("(null)") == 0
    assert rows("a|b\nc\nd|e|f\n", 2) == [["a", "b"]]


def test_joules_of_a_job_are_those_of_its_steps() -> None:
    text = """7|s|e|lab|ann|0
7.batch|s|e|lab||350
8|s|e|lab|bob|900
8.batch|s|e|lab||500
8.extern|s|e|lab||70
8.0|s|e|lab||600
8.1|s|e|lab||300
9|None|e|lab|ann|
10|s|e|lab|ann|0
10.batch|s|e|lab||
"""
    assert ended_jobs(text) == [("7 s", "e", A, 350), ("8 s", "e", B, 900)]
    assert ended_jobs("") == []


def test_joules_count_once_and_decay_since_the_end_of_the_job() -> None:
    program = FairShare(PLAN)
    program.half_life, program.looked = 100.0, 1000.0
    end = energy_fairshare.datetime.fromtimestamp(900).isoformat()
    for _ in range(2):
        program.add("1 t", end, A, 800)
    assert program.joules == {A: pytest.approx(400)}
    program.add("1 later", end, A, 800)  # requeued, and run again
    assert program.joules == {A: pytest.approx(800)}


def test_only_jobs_whose_factor_has_changed_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, ...]] = []
    pending = {"text": "1|lab|ann\n2|lab|bob\n3|lab|ann\n"}

    def run(*argv: str) -> str:
        if argv[0] == "sshare":
            return " lab|ann|0.5|0.9\n lab|bob|0.5|0.1\nroot||1.0|\n"
        if argv[0] == "squeue":
            return pending["text"]
        told.append(argv)
        return ""

    monkeypatch.setattr(energy_fairshare, "run", run)
    program = FairShare(PLAN)
    program.joules = {B: 100.0}
    program.give()
    assert told == [
        ("scontrol", "update", "JobId=1,3", "SiteFactor=1000"),
        ("scontrol", "update", "JobId=2", "SiteFactor=250"),
    ]
    program.give()
    assert len(told) == 2
    pending["text"] += "4|lab|bob\n"
    program.give()
    assert told[2:] == [("scontrol", "update", "JobId=4", "SiteFactor=250")]
