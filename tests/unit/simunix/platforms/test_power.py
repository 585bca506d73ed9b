"""Speeds and watts survive conversion between SimGrid's files and scenarios, there and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.platform.power import LinkPower
from simunix.cli.main import main
from simunix.platforms.source import read_platform

TWO = 'speed="2Gf,1.5Gf" core="4"'
WATTS = '<prop id="wattage_per_state" value="100.5:120:200, 93:110:170"/><prop id="wattage_off" value="10"/>'
FILE = f"""<platform version="4.1"><zone id="z" routing="Full">
<host id="n0" {TWO}>{WATTS}</host><host id="n1" {TWO} pstate="1">{WATTS}</host><host id="n2" {TWO}/>
<link id="l" bandwidth="1GBps"><prop id="wattage_range" value="10.3:35"/><prop id="wattage_off" value="0.5"/></link>
<route src="n0" dst="n1"><link_ctn id="l"/></route><route src="n0" dst="n2"><link_ctn id="l"/></route>
<route src="n1" dst="n2"><link_ctn id="l"/></route></zone></platform>"""
CLUSTER = f"""<platform version="4.1"><zone id="z" routing="Full"><cluster id="c" prefix="n" suffix="" radical="0-3" {TWO}
bw="1GBps" lat="1us" topology="TORUS" topo_parameters="2,2">{WATTS}</cluster></zone></platform>"""


def converted(folder: Path, first: str, *names: str) -> Path:
    """The last of files that are made one from the other, the first one from a text."""
    file = folder / "first.xml"
    file.write_text(first)
    for name in names:
        assert main(["platform", "convert", str(file), str(folder / name)]) == 0
        file = folder / name
    return file


@pytest.mark.parametrize("text", [FILE, CLUSTER])
def test_there_and_back(text: str, tmp_path: Path) -> None:
    back = converted(tmp_path, text, "a.yaml", "b.xml", "c.yaml")
    texts = [file.read_text().splitlines()[1:] for file in (back, tmp_path / "a.yaml")]  # without the name, that of the file
    assert texts[0] == texts[1]
    original = read_platform(tmp_path / "first.xml")
    for name in ("a.yaml", "b.xml"):
        hosts = read_platform(tmp_path / name).hosts
        expected = [(host.name, host.speeds_flops, host.power_state, host.power) for host in original.hosts]
        assert [(host.name, host.speeds_flops, host.power_state, host.power) for host in hosts] == expected
    assert original.hosts[0].power is not None


def test_watts_of_links(tmp_path: Path) -> None:
    back = converted(tmp_path, FILE, "a.yaml", "b.xml")
    assert {link.power for link in read_platform(back).links.values()} == {LinkPower(10.3, 35, 0.5)}


def test_a_cluster_stays_a_cluster(tmp_path: Path) -> None:
    text = converted(tmp_path, CLUSTER, "a.yaml", "b.xml").read_text()
    assert '<cluster id="' in text and text.count("wattage_per_state") == 1


def test_a_power_state_of_speed_0_is_said_to_be_lost(tmp_path: Path) -> None:
    text = converted(tmp_path, FILE.replace("2Gf,1.5Gf", "2Gf,0f").replace('pstate="1"', ""), "a.yaml").read_text()
    assert "# not converted: power states of n0, of which one has speed 0\n" in text and "wattage_per_state" not in text


SLOW = """<platform version="4"><zone id="z" routing="Full"><host id="n0" speed="1Gf"/>
<host id="n1" speed="0Gf"/><link id="l" bandwidth="1GBps"/>
<route src="n0" dst="n1"><link_ctn id="l"/></route></zone></platform>"""
SAID = '{0}:2: <host id="n1">: speed 0: nothing can compute there; give it a speed above 0 if something is to'


def test_a_host_of_speed_0_is_shown_and_converted_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = converted(tmp_path, SLOW, "a.yaml")
    expected = [f"simunix: {SAID.format(tmp_path / 'first.xml')}"]
    assert capsys.readouterr().err.splitlines()[1:] == expected
    assert "# not converted: speed 0 of n1, which gets the default\n" in written.read_text()
    assert read_platform(written).host_by_name("n1").speed_flops == 1e9
    assert main(["platform", "show", str(tmp_path / "first.xml")]) == 0
    shown = capsys.readouterr()
    assert shown.err.splitlines()[1:] == expected and "0 flop/s" in shown.out


SCENARIO = "network: {platform: first.xml}\nhosts:\n  - name: n[0-1]\n"
NEEDS_SPEED = {
    "node": ("slurm: {controller: n0, nodes: n1}\n", "slurm.nodes: host n1 has speed 0 in the platform file"),
    "charge": ("cpu_policy: charged\n", "cpu_policy: host n1 has speed 0 in the platform file"),
}


@pytest.mark.parametrize("what", NEEDS_SPEED)
def test_what_needs_a_speed_refuses_a_host_without(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more, expected = NEEDS_SPEED[what]
    (tmp_path / "first.xml").write_text(SLOW)
    (tmp_path / "s.yaml").write_text(SCENARIO + more)
    assert main(["check", str(tmp_path / "s.yaml")]) == 2
    assert expected in capsys.readouterr().err


def test_a_scenario_on_a_platform_with_warnings_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "first.xml").write_text(SLOW)
    (tmp_path / "s.yaml").write_text(SCENARIO + "processes:\n  - {name: p, host: n1, command: 'true'}\n")
    assert main(["check", str(tmp_path / "s.yaml")]) == 0
    assert capsys.readouterr().err.splitlines()[1:] == [f"simunix: {SAID.format(tmp_path / 'first.xml')}"]
