"""The `network:` section: each shape becomes the platform that it says, and what is wrong is one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from rsg_server.kernel import KernelOptions
from rsg_server.network.models import Model, lv08
from rsg_server.network.sharing import Fairness
from rsg_server.platform.link import SharingPolicy
from rsg_server.platform.platform import Platform
from simunix.planning.expand import expand
from simunix.rjms.scenario import load

HOSTS = "hosts:\n  - name: n[0-{last}]\n    cores: 2\n    speed: 2.5Gf\n"
EXAMPLES = Path(__file__).resolve().parents[2] / "rsg_server/platform/simgrid_platforms"


def platform(folder: Path, network: str, last: int = 3, hosts: str = "") -> Platform:
    """The platform of a scenario with this network section (lines indented by two)."""
    file = folder / "scenario.yaml"
    file.write_text(f"network:\n{network}\n" + (hosts or HOSTS.format(last=last)))
    return expand(load(file), folder, checked=False).plan.platform


def names(platform: Platform, source: str, destination: str) -> list[str]:
    route = platform.route(platform.host_by_name(source), platform.host_by_name(destination))
    return [link.name for link in route.links]


def test_without_a_shape_it_is_a_star_of_full_duplex_links(tmp_path: Path) -> None:
    star = platform(tmp_path, "  bandwidth: 1Gbps\n  latency: 7us")
    assert names(star, "n0", "n3") == ["n0_UP", "n3_DOWN"]
    assert names(star, "n2", "n2") == ["n2_loopback"]
    assert star.host_by_name("n1").speed_flops == 2.5e9
    assert len(star.links) == 12


def test_a_cluster_with_a_backbone_and_limiters(tmp_path: Path) -> None:
    network = (
        "  bandwidth: 1Gbps\n  cluster: {backbone: 10Gbps, backbone_latency: 5us, backbone_policy: fatpipe, limiter: 1.5Gbps}"
    )
    hosts = "hosts:\n  - name: n[0-1]\n  - name: fast\n    bandwidth: 10Gbps\n"
    cluster = platform(tmp_path, network, hosts=hosts)
    assert names(cluster, "n0", "fast") == ["n0_limiter", "n0_UP", "backbone", "fast_DOWN", "fast_limiter"]
    assert cluster.links["backbone"].policy is SharingPolicy.FATPIPE
    assert cluster.links["fast_UP"].bandwidth_bytes_per_s == 1.25e9
    assert cluster.links["n0_UP"].bandwidth_bytes_per_s == 1.25e8
    assert names(cluster, "n0", "n0") == ["n0_loopback"]


@pytest.mark.parametrize(
    ("network", "last", "count"),
    [
        ("  fat-tree: {down: [4, 4], up: [1, 2], cables: [1, 2]}", 15, 4),
        ("  dragonfly: {groups: 2, chassis: 2, routers: 2, hosts: 2}", 15, 7),
        ("  torus: {dimensions: [4, 4]}", 15, 4),
    ],
)
def test_regular_shapes(tmp_path: Path, network: str, last: int, count: int) -> None:
    shape = platform(tmp_path, network, last)
    longest = max(len(shape.route(a, b).links) for a in shape.hosts for b in shape.hosts)
    assert longest == count
    assert all(shape.route(a, b).links for a in shape.hosts for b in shape.hosts)


def test_a_shape_may_have_empty_places(tmp_path: Path) -> None:
    tree = platform(tmp_path, "  fat-tree: {down: [4, 4], up: [1, 2]}", 9)
    assert len(names(tree, "n0", "n9")) == 4
    assert len(tree.links) == 2 * (16 + 8) + 10


def test_coordinates_add_latency(tmp_path: Path) -> None:
    far = platform(tmp_path, "  latency: 0us\n  vivaldi: {'n[0-2]': [0, 0, 1], n3: [3, 4, 2]}")
    assert far.route(far.host_by_name("n0"), far.host_by_name("n3")).latency_s == pytest.approx(8e-3)


LINKS = """  switches: s[0-1]
  links:
    - {name: edge, bandwidth: 1Gbps, latency: 1us, between: ['n[0-1]', s0]}
    - {name: rear, bandwidth: 1Gbps, latency: 1us, between: ['n[2-3]', s1]}
    - {name: trunk, bandwidth: 10Gbps, latency: 5us, policy: shared, between: [s0, s1]}
    - {name: direct, bandwidth: 40Gbps, latency: 9us}
  routes:
    - {from: n0, to: n3, links: ['direct:up']}"""


def test_links_and_routes_one_by_one(tmp_path: Path) -> None:
    site = platform(tmp_path, LINKS)
    assert names(site, "n0", "n1") == ["edge-n0_UP", "edge-n1_DOWN"]
    assert names(site, "n1", "n2") == ["edge-n1_UP", "trunk", "rear-n2_DOWN"]
    assert names(site, "n2", "n1") == ["rear-n2_UP", "trunk", "edge-n1_DOWN"]
    direct = platform(tmp_path, LINKS.replace("latency: 9us", "latency: 2us"))
    assert (names(direct, "n0", "n3"), names(direct, "n3", "n0")) == (["direct_UP"], ["direct_DOWN"])


def test_a_platform_file_gives_places_by_name_or_in_order(tmp_path: Path) -> None:
    (tmp_path / "p.xml").write_bytes((EXAMPLES / "cluster_fat_tree.xml").read_bytes())
    by_order = platform(tmp_path, "  platform: p.xml")
    assert names(by_order, "n0", "n1")[0].startswith("link_from_0_")
    assert str(by_order.host_by_name("n1").addresses[0]) == "10.0.0.2"
    by_name = platform(
        tmp_path, "  platform: p.xml", hosts="hosts:\n  - name: node-7.simgrid.org\n  - name: node-3.simgrid.org\n"
    )
    assert names(by_name, "node-7.simgrid.org", "node-3.simgrid.org")[0].startswith("link_from_7_")


WRONG = {
    "two shapes": ("  torus: {dimensions: [4]}\n  cluster: {}", "expected one shape, got cluster and torus; keep one"),
    "misspelt shape": ("  fat_treee: {}", "unknown key; did you mean 'fat-tree'?"),
    "misspelt key of a shape": ("  fat-tree: {down: [4], up: [1], cable: [1]}", "unknown key; did you mean 'cables'?"),
    "levels": ("  fat-tree: {down: [4, 4], up: [1]}", "expected as many numbers in 'up' and 'cables' as in 'down'"),
    "no children": ("  fat-tree: {down: [0], up: [1]}", "network.fat-tree.down"),
    "too small": ("  torus: {dimensions: [3]}", "network.torus: it has places for 3 hosts, the scenario has 4; make it larger"),
    "groups": ("  dragonfly: {groups: 3, routers: 2, hosts: 2}", "3 groups, but only 2 routers of a group; add routers"),
    "zero bandwidth": ("  bandwidth: 0Gbps", "network.bandwidth: expected a rate above 0, got '0Gbps'"),
    "bad unit": ("  latency: 5 parsecs", "network.latency: expected a duration"),
    "star that is not duplex": ("  policy: shared", "the links of a star are split-duplex; use 'cluster: {}' for others"),
    "SimGrid's ways without its file": ("  simgrid_compat: true", "simgrid_compat: is for 'links' and 'platform'"),
    "routes without links": ("  switches: s1", "switches and routes need links; add them"),
    "no coordinates": ("  vivaldi: {n0: [0, 0, 0]}", "host n1 has no coordinates; add 'n1: [x, y, height]'"),
    "coordinates of nobody": ("  vivaldi: {m: [0, 0, 0]}", "'m' is no host of the scenario; leave it out"),
    "two coordinates": ("  vivaldi: {n0: [0, 0]}", "network.vivaldi.n0"),
    "unknown end": (
        LINKS.replace("[s0, s1]", "[s0, s2]"),
        "network.links[2].between: 's2' is no host and no switch; known: n0",
    ),
    "unknown link": (LINKS.replace("direct:up", "wire:up"), "network.routes[0].links: no link 'wire'; known: edge-n0"),
    "no direction": (LINKS.replace("direct:up", "direct"), "expected 'direct:up' or 'direct:down', got 'direct'"),
    "direction too many": (LINKS.replace("direct:up", "trunk:up"), "expected 'trunk', got 'trunk:up'"),
    "link twice": (LINKS.replace("name: direct", "name: trunk"), "network.links[3].name: a link 'trunk' is there already"),
    "route twice": (LINKS.replace("[s0, s1]", "[n0, s0]"), "a route from n0 to s0 is there already"),
    "switch named as host": (LINKS.replace("s[0-1]", "s0,s1,n1"), "network.switches: 'n1' is a host or switch already"),
    "not connected": (
        "\n".join(LINKS.splitlines()[:4]),
        "network.links: no route from n0 to n2 in zone network; add a",
    ),
    "no such file": ("  platform: gone.xml", "gone.xml: No such file or directory; give a SimGrid platform file"),
}


@pytest.mark.parametrize(("network", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_network_is_one_line(tmp_path: Path, network: str, message: str) -> None:
    with pytest.raises(SimunixError) as caught:
        platform(tmp_path, network)
    assert re.search(re.escape(message), str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_host_of_a_torus_has_no_link_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(SimunixError, match=r"network\.torus: host n has a bandwidth or latency of its own"):
        platform(tmp_path, "  torus: {dimensions: [2]}", hosts="hosts:\n  - name: n\n    bandwidth: 1Gbps\n")


def test_a_platform_file_has_all_names_or_none(tmp_path: Path) -> None:
    file = EXAMPLES / "small_platform.xml"
    with pytest.raises(SimunixError, match=r"small_platform\.xml has no host 'n', but it has 'Fafard'; name all or none"):
        platform(tmp_path, f"  platform: {file}", hosts="hosts:\n  - name: n,Fafard\n")
    with pytest.raises(SimunixError, match=r"small_platform\.xml has 7 hosts, the scenario has 9; take some away"):
        platform(tmp_path, f"  platform: {file}", last=8)


def options(folder: Path, network: str) -> KernelOptions:
    """What the server is told for a scenario with such a network."""
    (folder / "s.yaml").write_text(f"hosts: [{{name: 'n[1-2]'}}]\nnetwork: {{{network}}}\nprocesses: []\n")
    return expand(load(folder / "s.yaml"), folder).plan.kernel


def test_the_model_and_its_settings(tmp_path: Path) -> None:
    assert options(tmp_path, "").network_model == lv08()
    chosen = options(tmp_path, "model: CM02, settings: {network/TCP-gamma: 65536, network/crosstraffic: no}, fair_per: hosts")
    assert (chosen.network_model.name, chosen.network_model.tcp_gamma, chosen.network_model.cross_traffic) == (
        "CM02",
        65536,
        False,
    )
    assert chosen.fairness is Fairness.HOSTS


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("model: LV09", "network.model: Input should be 'LV08', 'CM02', 'constant' or 'raw', got 'LV09'"),
        ("settings: {network/crosstrafic: 1}", "network.settings: network/crosstrafic: unknown key; known: network/model, "),
        ("settings: {network/TCP-gamma: much}", "s.yaml:2: network.settings: network/TCP-gamma=much: expected a number"),
        ("settings: {network/model: SMPI}", "network.settings: network/model=SMPI: its numbers depend on the size"),
        ("settings: {network/model: L07}", "network.settings: network/model: there is no model 'L07'; known: LV08"),
        ("model: raw, settings: {network/model: LV08}", "settings.network/model: 'LV08', but network.model says 'raw'; keep"),
        ("settings: {network/latency-factor: 2}", "s.yaml:2: network.settings.network/latency-factor: stands for the slow"),
        ("settings: {network/loopback-bw: 1e9}", "network/loopback-bw: is written as network.loopback_bandwidth here"),
        ("settings: {precision/timing: 1e-6}", "precision/timing: moments are whole nanoseconds here"),
        ("settings: {network/bandwidth-factor: '1:2;9:3'}", "bandwidth-factor=1:2;9:3: a connection does not tell the size"),
        ("settings: {network/optim: Lazy}", "network/optim=Lazy: simunix always computes as with network/optim=Full"),
    ],
)
def test_a_wrong_model_is_one_line(tmp_path: Path, network: str, message: str) -> None:
    with pytest.raises(SimunixError, match=re.escape(message)) as refused:
        options(tmp_path, network)
    assert "\n" not in str(refused.value)


def with_config(folder: Path, more: str, **config: str) -> Model:
    """The model of a scenario on a platform file that asks for something itself."""
    props = "".join(f'<prop id="network/{key}" value="{value}"/>' for key, value in config.items())
    text = (EXAMPLES / "two_hosts.xml").read_text()
    (folder / "m.xml").write_text(re.sub(r"(<platform [^>]*>)", rf"\1<config>{props}</config>", text))
    return options(folder, f"platform: m.xml{more}").network_model


def test_the_config_of_a_platform_file_counts_unless_the_scenario_says_otherwise(tmp_path: Path) -> None:
    asked = with_config(tmp_path, "", model="CM02", crosstraffic="0", optim="Full")
    assert (asked.name, asked.cross_traffic) == ("CM02", False)
    assert with_config(tmp_path, ", model: LV08", model="SMPI").name == "LV08"
    assert with_config(tmp_path, ", settings: {network/crosstraffic: 1}", crosstraffic="perhaps").cross_traffic
    with pytest.raises(SimunixError, match=r"s\.yaml:2: network\.platform: config of the file: network/model=SMPI: its"):
        with_config(tmp_path, "", model="SMPI")
