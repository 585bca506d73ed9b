"""`simunix platform`: tables, routes, pictures, and there and back between the two formats."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rsg_server.platform.disk import Disk
from rsg_server.platform.platform import Platform
from simunix.cli.main import main
from simunix.platforms.source import read_platform

EXAMPLES = Path(__file__).resolve().parents[2] / "rsg_server/platform/simgrid_platforms"


def example(name: str) -> str:
    return str(EXAMPLES / f"{name}.xml")


def test_hosts_and_links_are_shown_with_their_capacities(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["platform", "show", example("cluster_backbone")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Hosts: 100" in shown and "node-0.simgrid.org … node-99.simgrid.org 1 1 Gflop/s" in shown
    assert "cluster0_backbone 18 Gbit/s 500 µs shared" in shown


def test_a_route_is_shown_link_by_link(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["platform", "show", example("dogbone"), "--route", "C1", "S2"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.endswith("3 links 800 Mbit/s 30 ms")


def test_what_changes_in_time_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["platform", "show", example("small_platform_profile")]) == 0
    assert "Changes in time" in capsys.readouterr().out


PICTURES = ["cluster_torus", "dogbone", "g5k", "vivaldi", "data_center"]


@pytest.mark.parametrize("name", ["cluster_fat_tree", *(pytest.param(name, marks=pytest.mark.slow) for name in PICTURES)])
def test_a_picture_names_hosts_and_capacities(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "p.svg"
    assert main(["platform", "show", example(name), "--output", str(picture)]) == 0
    text = picture.read_text()
    assert "bit/s" in text or name == "vivaldi"
    assert any(host.name.split(".")[0] in text for host in read_platform(Path(example(name))).hosts)
    again = tmp_path / "q.svg"
    assert main(["platform", "show", example(name), "--output", str(again)]) == 0
    assert again.read_text() == text, "the same platform, the same picture"


def test_a_picture_may_be_a_png(tmp_path: Path) -> None:
    picture = tmp_path / "p.png"
    assert main(["platform", "show", example("dogbone"), "--output", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def all_routes(platform: Platform) -> dict[tuple[str, str], object]:
    """What matters of each route but the names of links."""
    found = {}
    for one in platform.hosts:
        for other in platform.hosts:
            route = platform.route(one, other)
            links = Counter((link.bandwidth_bytes_per_s, f"{link.latency_s:.9e}", link.policy) for link in route.links)
            found[one.name, other.name] = (links, f"{route.latency_s:.9e}")
    return found


SMALL = ["cluster_fat_tree", "cluster_torus", "small_platform", "crosstraffic", "routing_cluster", "bypassRoute", "two_peers"]
LARGE = ["energy_cluster", "cluster_dragonfly", "cluster_multi", "meta_cluster", "ns3-big-cluster"]


@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)])
def test_there_and_back(name: str, tmp_path: Path) -> None:
    scenario, back = tmp_path / "a.yaml", tmp_path / "b.xml"
    assert main(["platform", "convert", example(name), str(scenario)]) == 0
    original, converted = read_platform(Path(example(name))), read_platform(scenario)
    assert all_routes(converted) == all_routes(original)
    assert [(host.name, host.cores, host.speed_flops) for host in converted.hosts] == [
        (host.name, host.cores, host.speed_flops) for host in original.hosts
    ]
    if name == "two_peers":
        return
    assert main(["platform", "convert", str(scenario), str(back)]) == 0
    assert all_routes(read_platform(back)) == all_routes(original)


def test_disks_there_and_back(tmp_path: Path) -> None:
    scenario, back = tmp_path / "a.yaml", tmp_path / "b.xml"
    assert main(["platform", "convert", example("hosts_with_disks"), str(scenario)]) == 0
    text = scenario.read_text()
    assert "# not converted: property mount of disk Disk1 of bob\n" in text and "property size" not in text
    more = "latency: 5ms\n  readwrite_bandwidth: 120MBps\n  fair_per: application"
    scenario.write_text(text.replace("storages:\n-", f"storages:\n- {more}\n "))
    assert main(["platform", "convert", str(scenario), str(back)]) == 0
    bob, alice, carl = read_platform(back).hosts
    properties = {"size": f"{500 << 30}B", "readwrite_bw": "120000000.0Bps", "latency": "0.005s", "fair_per": "application"}
    disk = Disk("Disk1", 1e8, 4e7, 1.2e8, 0.005, 500 << 30, properties, fair_per_application=True)
    scenario.unlink()
    assert main(["platform", "convert", str(back), str(scenario)]) == 0
    assert scenario.read_text().count("fair_per: application") == 1
    assert bob.disks == (disk, Disk("Disk2", 2e8, 8e7)) and bob.disks[0].properties == properties
    assert alice.disks == (Disk("Disk1", 2e8, 8e7),) and carl.disks == ()
    assert (alice.disks[0].together_bytes_per_s, disk.together_bytes_per_s) == (2e8, 1.2e8)


def test_hosts_of_a_cluster_keep_their_disks(tmp_path: Path) -> None:
    scenario, output = tmp_path / "a.yaml", tmp_path / "b.xml"
    storage = "{name: d, host: 'n[0-3]', read_bandwidth: 1MBps, write_bandwidth: 1MBps}"
    scenario.write_text(f"network: {{torus: {{dimensions: [2, 2]}}}}\nhosts: [{{name: 'n[0-3]'}}]\nstorages: [{storage}]\n")
    assert main(["platform", "convert", str(scenario), str(output)]) == 0
    assert [len(host.disks) for host in read_platform(output).hosts] == [1] * 4


def test_storages_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["platform", "show", example("hosts_with_disks")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Storages: 3" in shown and "1 Disk1 bob 100 MB/s 40 MB/s 100 MB/s 0 s 536.871 GB" in shown


def test_a_star_of_a_scenario_becomes_a_simgrid_platform(tmp_path: Path) -> None:
    scenario, output = tmp_path / "a.yaml", tmp_path / "b.xml"
    scenario.write_text("network: {bandwidth: 1Gbps, latency: 5us}\nhosts: [{name: 'n[01-40]', speed: 2.5Gf}]\n")
    assert main(["platform", "convert", str(scenario), str(output)]) == 0
    assert all_routes(read_platform(output)) == all_routes(read_platform(scenario))


WRONG = {
    "no file": (["show", "gone.xml"], "gone.xml: No such file or directory; give a SimGrid platform file"),
    "no scenario": (["show", "gone.yaml"], "gone.yaml: No such file or directory; give a scenario file"),
    "unknown host": (["show", example("dogbone"), "--route", "C1", "X"], "--route: no host 'X'; known: S1, C1, S2, C2"),
    "no route": (["show", example("small_platform_routing_none"), "--route", "Fafard", "Boivin"], "no route from Fafard to"),
    "picture's format": (
        ["show", example("dogbone"), "--output", "p.doc"],
        "p.doc: expected a picture's name that ends in .svg",
    ),
    "picture's place": (["show", example("dogbone"), "--output", "no/p.svg"], "no/p.svg: No such file or directory; choose"),
    "same format": (["convert", example("dogbone"), "out.xml"], "out.xml: expected a name that ends in .yaml"),
    "unknown format": (["convert", example("dogbone"), "out.json"], "out.json: expected a name that ends in .yaml"),
    "too many pairs": (["convert", example("g5k"), "out.yaml"], "would need a route for each pair; keep the file and name it"),
    "names": (["convert", example("faulty_host"), "out.yaml"], "has no links"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_done_is_one_line(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["platform", *arguments]) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1


def test_what_is_there_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "a.yaml"
    output.write_text("mine")
    assert main(["platform", "convert", example("dogbone"), str(output)]) == 2
    assert output.read_text() == "mine"
    assert "File exists; choose another name" in capsys.readouterr().err
