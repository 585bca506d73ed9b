"""Power saving and power caps of a scenario: what slurm.conf and the controller are told, and what is wrong, in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.planning.expand import Expansion, expand
from simunix.rjms.adapter import PowerCap
from simunix.rjms.scenario import load
from simunix.rjms.slurm.own_configuration import read_settings

HOSTS = """
name: power
epoch: 2000-01-01T00:00:00Z
hosts:
  - {name: ctl, cores: 4}
  - name: n[1-36]
    cores: 16
    speed: [2.7Gf, 2.0Gf, 1.2Gf]
    wattage_per_state: ["117:130:358", "117:128:269", "117:125:193"]
    wattage_off: 14
enclosures: [{name: chassis, hosts: 'n[1-36]', size: 18, watts: 248}]
"""
BUDGET = "{policy: energyBud, joules: %s, start: 1h, end: 2h}"
CAP = "{policy: %s, caps: [{watts: %s, start: 1h, end: 2h}]}"


def planned(folder: Path, slurm: str, hosts: str = HOSTS) -> Expansion:
    file = folder / "s.yaml"
    file.write_text(f"{hosts}slurm: {{controller: ctl, nodes: 'n[1-36]', {slurm}}}\n")
    return expand(load(file), folder)


def files(expansion: Expansion, host: str = "ctl") -> dict[str, str]:
    return {each.path: each.content.decode(errors="replace") for each in expansion.plan.files if each.host == host}


def test_power_saving_writes_slurm_conf_and_ships_scripts(tmp_path: Path) -> None:
    found = files(planned(tmp_path, "power_saving: {suspend_time: 5min, resume_timeout: 10min, exclude: 'n[1-2]'}"))
    settings = read_settings(found["/etc/slurm/slurm.conf"])
    assert (settings["suspendtime"], settings["resumetimeout"], settings["suspendtimeout"]) == ("300", "600", "30")
    assert settings["suspendexcnodes"] == "n[1-2]"
    assert "machines shutdown" in found[settings["suspendprogram"]] and "machines on" in found[settings["resumeprogram"]]


def test_without_these_keys_nothing_is_added(tmp_path: Path) -> None:
    found = planned(tmp_path, "")
    assert "suspend" not in files(found)["/etc/slurm/slurm.conf"].lower()
    assert not {"/etc/slurm/suspend", "/etc/slurm/power_cap.py"} & set(files(found))


def test_a_cap_is_planned(tmp_path: Path) -> None:
    found = planned(tmp_path, "power_cap: " + CAP % ("mix, floor: 2.0Gf", "40%"))
    texts = files(found)
    settings = read_settings(texts["/etc/slurm/slurm.conf"])
    assert settings["licenses"] == f"watts:{2 * 36 * (358 - 117)}"
    plan = json.loads(texts["/etc/slurm/power_cap.json"])
    (cap,) = plan["caps"]
    most = 36 * 358 + 2 * 248
    assert cap["off"] == "n[19-36]"  # a whole chassis: with 17 nodes, 5,845 W would be drawn
    assert cap["licenses"] == int(most * 0.4 - 248 - 18 * 117)
    assert cap["each"] == 241
    even = planned(tmp_path, "power_cap: " + CAP % ("mix, floor: 2.0Gf, frequencies: even", "40%"))
    assert json.loads(files(even)["/etc/slurm/power_cap.json"])["caps"][0]["each"] == cap["licenses"] // 18
    assert plan["states"] == [[241, 2.7e9], [152, 2.0e9]]
    assert found.clusters[0].power_caps == (PowerCap(3600 * 10**9, 7200 * 10**9, most * 0.4),)
    assert "241) state=0 limit=358.000001 ;;\n152) state=1 limit=269.000001 ;;" in texts["/etc/slurm/frequency"]


def test_a_budget_is_a_cap_that_moves(tmp_path: Path) -> None:
    found = planned(tmp_path, "power_saving: {suspend_time: 60s}, power_budget: " + BUDGET % "70%")
    plan = json.loads(files(found)["/etc/slurm/power_cap.json"])
    most, idle = 36 * 358 + 2 * 248, 36 * 117 + 2 * 248
    assert plan["budget"]["joules"] == pytest.approx(most * 0.7 * 3600) and plan["budget"]["idle_w"] == idle
    assert plan["caps"][0]["licenses"] == int(most * 0.7 - idle)
    assert found.clusters[0].power_caps == ()  # the power may be above the limit for a while


@pytest.mark.parametrize(
    ("slurm", "message"),
    [
        ("power_saving: {suspend_time: 500ms}", "slurm.power_saving.suspend_time: Slurm counts whole seconds"),
        ("power_saving: {exclude: n99}", "slurm.power_saving.exclude: n99 is not among the nodes"),
        ("login: n1, power_saving: {}", "n1 is a node and has slurm's daemons or users"),
        (
            "power_cap: " + CAP % ("dvfs", "30%"),
            "slurm.power_cap.caps[0].watts: no node could compute below 4015.2 W: with policy",
        ),
        ("power_cap: " + CAP % ("shut", "100"), "the idle machine draws 0 W of at most 13384 W"),
        ("power_cap: " + CAP % ("mix", "60%"), "slurm.power_cap.floor: policy mix needs the lowest speed"),
        ("power_cap: " + CAP % ("shut, floor: 2Gf", "60%"), "policy shut changes no frequency"),
        ("power_cap: " + CAP % ("dvfs, floor: 2.5Gf", "60%"), "policy dvfs has one power state to choose from"),
        (
            "power_cap: {policy: shut, caps: [{watts: 60%, start: 2h, end: 1h}]}",
            "a cap is announced, starts and ends, in this order",
        ),
        (
            "power_cap: " + CAP % ("dvfs", "60%") + ", power_saving: {suspend_time: 60s}",
            "nodes that go off and boot by themselves",
        ),
        ("power_cap: " + CAP % ("dvfs", "60%") + ", parameters: {Licenses: matlab}", "slurm.parameters: licenses is set by"),
        (
            "power_cap: " + CAP % ("mix, floor: 3Gf", "60%"),
            "slurm.power_cap.floor: the nodes are not as fast in any power state",
        ),
        ("power_cap: " + CAP % ("dvfs, interval: 0", "60%"), "slurm.power_cap.interval: expected a second or more"),
        ("power_cap: " + CAP % ("dvfs", "0.6"), "no node could compute below 0.6 W"),
        ("power_cap: " + CAP % ("dvfs", "0%"), "expected a part of the maximum above 0%"),
        ("power_cap: " + CAP % ("dvfs", "many"), "expected watts not below 0"),
        ("power_cap: " + CAP % ("fast", "60%"), "power_cap.policy"),
        (
            "power_budget: " + BUDGET % "30%",
            "slurm.power_budget.joules: no node could compute with 14454720 J: the idle machine",
        ),
        ("power_budget: " + BUDGET % "lots", "expected joules such as 2.5e9"),
        ("power_budget: " + BUDGET % "70%" + ", power_cap: " + CAP % ("dvfs", "60%"), "a cluster has one of them"),
        ("power_budget: {policy: powercap, joules: 70%, start: 2h, end: 1h}", "a budget is announced, starts and ends"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, slurm: str, message: str) -> None:
    with pytest.raises(SimunixError) as error:
        planned(tmp_path, slurm)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_nodes_under_a_cap_have_the_same_watts(tmp_path: Path) -> None:
    bare = HOSTS.replace("  - {name: ctl, cores: 4}", "  - {name: 'ctl,n37', cores: 4}")
    file = tmp_path / "s.yaml"
    file.write_text(f"{bare}slurm: {{controller: ctl, nodes: 'n[1-37]', power_cap: {CAP % ('dvfs', '60%')}}}\n")
    with pytest.raises(SimunixError, match=r"slurm\.power_cap: node n37 has no wattage_per_state"):
        expand(load(file), tmp_path)
