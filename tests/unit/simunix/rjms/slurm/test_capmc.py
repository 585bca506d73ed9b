"""Slurm's plugin power/cray_aries: what slurm.conf says, and the capmc that it calls."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from rsg_server.errors import SimunixError
from simunix.planning.expand import expand
from simunix.rjms.scenario import load
from simunix.rjms.slurm.own_configuration import read_settings
from simunix.rjms.slurm.power.guest import capmc
from tests.unit.simunix.rjms.slurm.test_power_sections import files

SCENARIO = """
name: cray
hosts:
  - {name: ctl, cores: 4}
  - {name: 'nid[00001-00003]', cores: 2, speed: '2Gf,1Gf', wattage_per_state: ['100:300', '90:150.5']}
  - {name: nid00004, cores: 2, wattage_per_state: '100:400'}
  - {name: n5, cores: 2}
slurm: {controller: ctl, nodes: '%s', capmc: '%s'%s}
"""
NODES = "nid[00001-00004]"


def test_slurm_conf_and_capmc_are_told(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO % (NODES, "cap_watts=2k,job_level", ""))
    found = expand(load(tmp_path / "s.yaml"), tmp_path)
    texts = files(found)
    settings = read_settings(texts["/etc/slurm/slurm.conf"])
    assert settings["powerplugin"] == "power/cray_aries"
    assert settings["powerparameters"] == "capmc_path=/etc/slurm/capmc,cap_watts=2k,job_level"
    assert json.loads(texts["/etc/slurm/capmc.json"]) == [
        {"nids": [1, 2, 3], "min": 151, "max": 300},
        {"nids": [4], "min": 400, "max": 400},
    ]
    wired = {host.name: host.wired for host in found.plan.hosts}
    assert wired == {**dict.fromkeys(wired, ()), "ctl": tuple(f"nid0000{number}" for number in range(1, 5))}


@pytest.mark.parametrize(
    ("nodes", "words", "more", "message"),
    [
        ("nid[00001-00004],n5", "cap_watts=1", "", "slurm.capmc: node n5: the plugin knows only nodes"),
        (NODES, "cap_wats=1", "", "slurm.capmc: expected PowerParameters"),
        (NODES, "capmc_path=/bin/sh", "", "slurm.capmc: expected PowerParameters"),
        (NODES, "", ", parameters: {PowerPlugin: power/none}", "slurm.capmc: PowerPlugin and PowerParameters"),
    ],
)
def test_what_does_not_fit_is_one_line(tmp_path: Path, nodes: str, words: str, more: str, message: str) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO % (nodes, words, more))
    with pytest.raises(SimunixError, match=message) as raised:
        expand(load(tmp_path / "s.yaml"), tmp_path)
    assert "\n" not in str(raised.value)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for number, state in ((1, "on"), (2, "booting"), (3, "off")):
        folder = tmp_path / f"nid0000{number}"
        folder.mkdir()
        for name, text in (("state", state), ("joules", f"{number * 100}.75"), ("limit", "0")):
            (folder / name).write_text(f"{text}\n")
    (tmp_path / "capmc.json").write_text(json.dumps([{"nids": [1, 2, 3], "min": 150, "max": 300}]))
    monkeypatch.setattr(capmc, "WIRES", str(tmp_path))
    monkeypatch.setattr(capmc, "PLAN", str(tmp_path / "capmc.json"))
    return tmp_path


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = capmc.main(list(words))
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (0 if found["e"] == 0 else 1)
    return found


def test_what_capmc_answers(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (group,) = asked(capsys, "get_power_cap_capabilities")["groups"]
    assert group["nids"] == [1, 2, 3] and (group["controls"][0]["min"], group["controls"][0]["max"]) == (150, 300)
    energy = asked(capsys, "get_node_energy_counter", "--nids", "1,3-7")
    assert [(node["nid"], node["energy_ctr"]) for node in energy["nodes"]] == [(1, 100), (3, 300)]
    assert asked(capsys, "node_status") == {"e": 0, "err_msg": "", "ready": [1], "on": [2], "off": [3]}


def test_caps_are_set_together_or_not_at_all(
    machine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def set_caps(*caps: tuple[int, int]) -> dict[str, Any]:
        nids = [{"nid": nid, "controls": [{"name": "node", "val": value}]} for nid, value in caps]
        monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"nids": nids})))
        return asked(capsys, "json", "--resource=/capmc/set_power_cap")

    def limits() -> list[int]:
        return [node["controls"][0]["val"] for node in asked(capsys, "get_power_cap")["nids"]]

    assert set_caps((1, 200), (2, 300))["e"] == 0 and limits() == [200, 300, 0]
    assert set_caps((1, 250), (2, 149))["e"] == -1 and limits() == [200, 300, 0]
    assert set_caps((9, 0))["e"] == -1
    assert set_caps((1, 0))["e"] == 0 and limits() == [0, 300, 0]


@pytest.mark.parametrize(
    "words", [[], ["fly"], ["get_node_energy_counter"], ["get_node_energy_counter", "--nids", "x"], ["json"]]
)
def test_what_is_refused(machine: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert asked(capsys, *words)["e"] == -1
