"""`simunix platform`: tables, routes, pictures, and there and back between the two formats."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

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
