"""Sites' files as they are: quotes, continuations, nodes that are not there yet, addresses, GPUs of DEFAULT, front ends."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.rjms.slurm.beside import devices, files_beside, notices, will_drain
from simunix.rjms.slurm.files.lines import read_lines
from simunix.rjms.slurm.files.nodes import gpus_of, node_lines
from simunix.rjms.slurm.own_configuration import features_of
from simunix.rjms.slurm.site.accounts import qos_commands
from simunix.rjms.slurm.site.read_back import read_back
from simunix.rjms.slurm.site.reservations import reservation_commands
from simunix.rjms.slurm.site.write import SiteFiles, import_site

HEAD = "ClusterName=c\nSlurmctldHost=head\n"


def site(folder: Path, conf: str, **beside: str) -> Path:
    """A site's folder with a slurm.conf, and gres, topology and others as keywords; its slurm.conf."""
    folder.mkdir(exist_ok=True)
    (folder / "slurm.conf").write_text(HEAD + conf)
    for name, text in beside.items():
        (folder / f"{name}.conf").write_text(text)
    return folder / "slurm.conf"


def imported(tmp_path: Path, conf: str, **beside: str) -> tuple[list[str], list[str]]:
    """The lines that a site's slurm.conf becomes, from HEAD on, and the changes, without the folder."""
    found = import_site(SiteFiles(site(tmp_path / "in", conf, **beside)), tmp_path / "out")
    text = (tmp_path / "out/slurm.conf").read_text()
    lines = [line for line in text.split("ClusterName=c\n")[1].split("\n") if line and not line.startswith("#")]
    told = [f"{each.place}: {each.what}: {each.reason}".replace(f"{tmp_path}/in/", "") for each in found.changes]
    return lines, [line for line in told if line.startswith(("slurm.conf", "gres.conf", "topology.conf"))]


def test_continued_and_quoted_values_stay_what_they_were(tmp_path: Path) -> None:
    conf = (
        'SchedulerParameters=bf_window=10080,\\\nbf_continue,\\\nx=2\nLaunchParameters="a, b"\n'
        'NodeName=s[1-2] CPUs=4 Features="big, fast"\nPartitionName=a Nodes=ALL TRESBillingWeights="CPU=1.0, Mem=0.25G"\n'
    )
    lines, changes = imported(tmp_path, conf)
    assert lines == [
        "SchedulerParameters=bf_window=10080,bf_continue,x=2",
        'LaunchParameters="a, b"',
        'NodeName=s[1-2] CPUs=4 Features="big, fast"',
        'PartitionName=a Nodes=ALL TRESBillingWeights="CPU=1.0, Mem=0.25G"',
    ]
    assert changes == []
    assert features_of((tmp_path / "out/slurm.conf").read_text()) == {"s1": ("big", "fast"), "s2": ("big", "fast")}


CLOUD = """SuspendExcNodes=s[1-2]:1,c1
SuspendExcParts=mix,burst
NodeName=DEFAULT CPUs=2 State=UNKNOWN
NodeName=s[1-2] Feature=static
NodeName=c[1-2] State=CLOUD Feature=cloud
NodeName=f1 State=FUTURE
DownNodes=s1,f1 State=DOWN
DownNodes=c1 State=DOWN
NodeSet=all_of Nodes=s[1-2],c[1-2]
NodeSet=clouds Feature=cloud
NodeSet=statics Feature=static
NodeSet=later Nodes=f1
PartitionName=mix Nodes=s[1-2],c[1-2] Default=YES Alternate=burst
PartitionName=sets Nodes=clouds,statics,later
PartitionName=burst Nodes=c[1-2]
PartitionName=ever Nodes=clouds
PartitionName=none
PartitionName=DEFAULT Nodes=c[1-2]
PartitionName=of_default
PartitionName=own Nodes=ALL
"""
TOPOLOGY = """SwitchName=a Nodes=s[1-2]
SwitchName=b Nodes=c[1-2],f1
SwitchName=over_b Switches=b
SwitchName=top Switches=a,over_b
"""


def test_nothing_names_nodes_that_are_left_out(tmp_path: Path) -> None:
    gres = "NodeName=s1,c1 Name=gpu File=/dev/nvidia0\nNodeName=c2 Name=gpu File=/dev/nvidia0\n"
    lines, changes = imported(tmp_path, CLOUD, topology=TOPOLOGY, gres=gres)
    assert lines == [
        "SuspendExcNodes=s[1-2]:1",
        "SuspendExcParts=mix",
        "NodeName=DEFAULT CPUs=2 State=UNKNOWN",
        "NodeName=s[1-2] Feature=static",
        "DownNodes=s1 State=DOWN",
        "NodeSet=all_of Nodes=s[1-2]",
        "NodeSet=statics Feature=static",
        "PartitionName=mix Nodes=s[1-2] Default=YES",
        "PartitionName=sets Nodes=statics",
        "PartitionName=none",
        "PartitionName=DEFAULT",
        "PartitionName=own Nodes=ALL",
    ]
    assert (tmp_path / "out/topology.conf").read_text() == "SwitchName=a Nodes=s[1-2]\nSwitchName=top Switches=a\n"
    assert (tmp_path / "out/gres.conf").read_text() == "NodeName=s1 Name=gpu File=/dev/nvidia0\n"
    for told in (
        "slurm.conf:15: PartitionName=mix: Nodes=s[1-2],c[1-2]: without c[1-2]: not there yet",
        "slurm.conf:15: PartitionName=mix: Alternate=burst: left out: the partition is left out",
        "slurm.conf:17: PartitionName=burst: Nodes=c[1-2]: left out: c[1-2]: not there yet",
        "slurm.conf:21: PartitionName=of_default: left out: none of the nodes of PartitionName=DEFAULT is there",
        "slurm.conf:12: NodeSet=clouds Feature=cloud: left out: its nodes are not there yet",
        "slurm.conf:14: NodeSet=later: Nodes=f1: left out: f1: not there yet",
        "slurm.conf:3: SuspendExcNodes=s[1-2]:1,c1: s[1-2]:1: without nodes that are not there",
        "topology.conf:2: SwitchName=b: Nodes=c[1-2],f1: left out: c[1-2],f1: not there yet",
        "topology.conf:3: SwitchName=over_b: left out: b is left out",
        "topology.conf:4: SwitchName=top: without over_b: left out",
        "gres.conf:2: NodeName=c2: left out: c2: not there yet",
    ):
        assert told in changes, (told, changes)


def test_other_names_change_nothing_of_that(tmp_path: Path) -> None:
    conf = site(tmp_path / "in", CLOUD, topology=TOPOLOGY)
    assert main(["slurm", "import", str(conf), "--anonymous", "-o", str(tmp_path / "out")]) == 0
    nodes = {name for node in node_lines(read_lines(tmp_path / "out/slurm.conf", "x")) for name in node.names}
    assert len(nodes) == 2
    assert (tmp_path / "out/topology.conf").read_text().count("\n") == 2


def test_a_node_that_no_line_has_is_left_out_and_said(tmp_path: Path) -> None:
    _, changes = imported(tmp_path, "NodeName=n1\nPartitionName=p Nodes=n[1-2]\n")
    assert changes == ["slurm.conf:4: PartitionName=p: Nodes=n[1-2]: without n2: no NodeName line has it"]


def test_no_partition_is_left(tmp_path: Path) -> None:
    conf = "NodeName=n1\nNodeName=c1 State=CLOUD\nPartitionName=DEFAULT Nodes=c1\nPartitionName=p\nPartitionName=q Nodes=c1\n"
    with pytest.raises(
        SimunixError, match=r"slurm.conf: the nodes of all partitions are not there yet; give one nodes that are"
    ):
        imported(tmp_path, conf)


def test_what_is_written_is_read_back_before_it_stays(tmp_path: Path) -> None:
    imported(tmp_path, "NodeName=n1\nPartitionName=p Nodes=n1\n")
    with (tmp_path / "out/slurm.conf").open("a") as file:
        file.write("PartitionName=q Nodes=n[1-2]\n")
    with pytest.raises(SimunixError, match=r"out/slurm.conf:\d+: PartitionName=q: Nodes=n\[1-2\]: without n2"):
        read_back(tmp_path / "out")


def test_a_folder_that_cannot_be_read_back_does_not_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    conf = site(tmp_path / "in", f"NodeName=n1 CPUs=4 RealMemory={'9' * 15}\nPartitionName=p Nodes=n1\n")
    assert main(["slurm", "import", str(conf), "-o", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1 and not (tmp_path / "out").exists()


def test_addresses_are_left_out_and_listed(tmp_path: Path) -> None:
    conf = (
        "SlurmctldAddr=10.0.0.250\nNodeName=DEFAULT Port=7000\nNodeName=n1 BcastAddr=x NodeAddr=y\nPartitionName=p Nodes=ALL\n"
    )
    lines, changes = imported(tmp_path, conf)
    assert lines == ["NodeName=DEFAULT", "NodeName=n1", "PartitionName=p Nodes=ALL"]
    assert changes == [
        "slurm.conf:3: SlurmctldAddr=10.0.0.250: left out: addresses are the run's own",
        "slurm.conf:4: Port=7000: left out: port 6818",
        "slurm.conf:5: BcastAddr=x: left out: addresses are the run's own",
        "slurm.conf:5: NodeAddr=y: left out: addresses are the run's own",
    ]


def test_nodes_behind_front_ends_are_hosts(tmp_path: Path) -> None:
    conf = "FrontendName=fe[1-2] FrontendAddr=x\nNodeName=n[1-3] NodeHostname=fe1\nPartitionName=p Nodes=ALL\n"
    lines, changes = imported(tmp_path, conf)
    assert lines == ["NodeName=n[1-3]", "PartitionName=p Nodes=ALL"]
    reason = "left out: Slurm has no front ends any more; each node is a host with a slurmd of its own"
    assert changes[0] == f"slurm.conf:3: FrontendName=fe[1-2]: {reason}"
    assert yaml.safe_load((tmp_path / "out/scenario.yaml").read_text())["slurm"]["nodes"] == "n[1-3]"


DEFAULT_GRES = """GresTypes=gpu
NodeName=DEFAULT CPUs=8 Gres=gpu:a100:4
NodeName=g[1-2]
NodeName=h1 Gres="gpu:2"
NodeName=k1 Gres=gpu:a100:no_consume:3(S:0-1),gpu:v100:1
PartitionName=all Nodes=ALL
"""


def test_gpus_of_default_get_files(tmp_path: Path) -> None:
    imported(tmp_path, DEFAULT_GRES, gres="AutoDetect=nvml\n")
    assert (tmp_path / "out/gres.conf").read_text().split("\n") == [
        "NodeName=g[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-3]",
        "NodeName=h1 Name=gpu File=/dev/nvidia[0-1]",
        "NodeName=k1 Name=gpu Type=a100 File=/dev/nvidia[0-2]",
        "NodeName=k1 Name=gpu Type=v100 File=/dev/nvidia3",
        "",
    ]
    conf = (tmp_path / "out/slurm.conf").read_text()
    assert list(will_drain(tmp_path / "out/slurm.conf", conf, ["g1", "g2", "h1", "k1"])) == []


def test_detected_gpus_all_have_files_or_none(tmp_path: Path) -> None:
    """slurmd ends at a gres.conf in which some GPUs of a node have files and others have none."""
    gres = "NodeName=g[1-2] Name=gpu Type=a100 Count=4 Cores=0-7\nAutoDetect=nvml\nName=nic Count=2\n"
    _, changes = imported(tmp_path, "GresTypes=gpu,nic\nNodeName=g[1-2] Gres=gpu:a100:4,nic:2\n", gres=gres)
    assert (tmp_path / "out/gres.conf").read_text().split("\n") == [
        "Name=nic Count=2",
        "NodeName=g[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-3]",
        "",
    ]
    assert changes[0].startswith("gres.conf:1: NodeName=g[1-2] Name=gpu Type=a100 Count=4 Cores=0-7: left out: Slurm detects")


def test_gpus_of_default_without_files_are_said_before_the_start(tmp_path: Path) -> None:
    conf = site(tmp_path / "in", DEFAULT_GRES)
    told = list(will_drain(conf, conf.read_text(), ["g1", "g2", "h1", "k1"]))
    kinds = ["(g1 …) have Gres=gpu:a100", "(h1 …) have Gres=gpu", "(k1 …) have Gres=gpu:v100"]
    assert [each.partition(" in slurm.conf")[0].rpartition(" nodes ")[2] for each in told] == kinds
    assert told[0].startswith(
        f"{tmp_path}/in/gres.conf: 3 nodes (g1 …) have Gres=gpu:a100 in slurm.conf, 4 of them on g1, but File= names 0"
    )


@pytest.mark.parametrize(
    ("gres", "found"),
    [
        ("gpu", [("", 1)]),
        ("gpu:a100", [("a100", 1)]),
        ("gpu:no_consume:2,nic:1", [("", 2)]),
        ("gpu:2(S:0,1),gpu:x:1K", [("", 2), ("x", 1024)]),
        ("gpus:2,mps:gpu:4", []),
        (f"gpu:{'9' * 5000}", [("9" * 5000, 1)]),
    ],
)
def test_gpus_of_a_list(gres: str, found: list[tuple[str, int]]) -> None:
    assert gpus_of(gres) == found


@pytest.mark.parametrize("words", [[], ["--anonymous"]])
@pytest.mark.parametrize(
    ("conf", "beside", "told"),
    [
        ("NodeName=n[1 CPUs=2\n", {}, "slurm.conf:3: NodeName: host list 'n[1': '[' without ']'; mend the list"),
        ("NodeName=n1\nPartitionName=p Nodes=n[1\n", {}, "slurm.conf:4: Nodes: host list 'n[1'"),
        ("NodeName=n1\nDownNodes=n[1\n", {}, "slurm.conf:4: DownNodes: host list 'n[1'"),
        ("NodeName=n1\n", {"gres": "NodeName=n[1 Name=gpu File=/dev/nvidia0\n"}, "gres.conf:1: NodeName: host list 'n[1'"),
        ("NodeName=n1\n", {"topology": "\nSwitchName=a Nodes=n[1\n"}, "topology.conf:2: Nodes: host list 'n[1'"),
        ("NodeName=n1\nNodeName=n[1-2]\n", {}, "slurm.conf:4: NodeName: n1 is named twice, first in "),
        ("NodeName=n1\nNodeName={{ x }}\n", {}, "slurm.conf:4: {{ x }}: the place-holder of a template"),
        ("NodeName=n1\nInclude more.conf\n", {}, "slurm.conf:4: include more.conf: no such file beside it"),
        ("NodeName=n1 CPUs=4 Sockets=two\n", {}, "slurm.conf:3: sockets: expected a whole number, got 'two'"),
    ],
)
def test_a_bad_value_is_said_with_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], conf: str, beside: dict[str, str], told: str, words: list[str]
) -> None:
    path = site(tmp_path / "in", conf, **beside)
    assert main(["slurm", "import", str(path), *words, "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and told in said, said
    assert not (tmp_path / "out").exists()


def test_nodes_of_reservations_are_checked_and_there(tmp_path: Path) -> None:
    times = "StartTime=2024-03-01T09:00:00 EndTime=2024-03-01T10:00:00"
    (tmp_path / "r.txt").write_text(f"ReservationName=a {times} Nodes=n[1\n")
    with pytest.raises(SimunixError, match=r"r.txt:1: Nodes: host list 'n\[1': '\[' without '\]'; mend the list"):
        reservation_commands(tmp_path / "r.txt", 0.0, [])
    (tmp_path / "r.txt").write_text("".join(f"ReservationName=a {times} Nodes={nodes}\n" for nodes in ("n[1-2]", "c1", "ALL")))
    changes: list[object] = []
    commands = reservation_commands(tmp_path / "r.txt", 0.0, changes, None, {"n1"})  # type: ignore[arg-type]
    assert [command.rpartition(" ")[2] for command in commands] == ["Nodes=n1", "Nodes=ALL"]
    assert [change.reason for change in changes] == [  # type: ignore[attr-defined]
        "without n2: no such node in the scenario",
        "left out: without c1: no such node in the scenario",
    ]


@pytest.mark.parametrize(("text", "seconds"), [("1-00:00:00", "86400"), ("00:05:30", "330"), ("90", "90"), ("2-12", "216000")])
def test_grace_times_are_those_that_sacctmgr_prints(tmp_path: Path, text: str, seconds: str) -> None:
    (tmp_path / "q.txt").write_text(f"Name|GraceTime\n\nnormal|{text}\n")
    assert qos_commands(tmp_path / "q.txt", []) == [f"modify qos normal set GraceTime={seconds}"]


def test_a_grace_time_that_is_none_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("Name|GraceTime\n\nnormal|soon\n")
    with pytest.raises(SimunixError, match=r"q.txt:3: GraceTime: expected a time such as 00:05:00 or 1-00:00:00, got 'soon'"):
        qos_commands(tmp_path / "q.txt", [])


def test_detection_is_answered_for_a_user_s_own_files_too(tmp_path: Path) -> None:
    """What hosts get of a gres.conf with AutoDetect, which devices are made, and the one line that says so."""
    conf = site(
        tmp_path / "in", DEFAULT_GRES, gres="Name=gpu AutoDetect=nvml\nNodeName=h1 Name=nic File=/dev/nic[0-1],/opt/nic\n"
    )
    content, _ = files_beside(conf, conf.read_text(), ())["/etc/slurm/gres.conf"]
    assert content.decode().split("\n")[:2] == [
        "NodeName=h1 Name=nic File=/dev/nic[0-1],/opt/nic",
        "NodeName=g[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-3]",
    ]
    gpus = tuple(f"/dev/nvidia{number}" for number in range(4))
    made = devices(conf, conf.read_text(), ["g1", "h1", "k1"])
    assert made == {"g1": gpus, "h1": ("/dev/nic0", "/dev/nic1", *gpus[:2]), "k1": gpus}
    told = list(notices(conf, conf.read_text(), ["g1", "h1", "k1"]))
    assert told[0].startswith(f"{tmp_path}/in/gres.conf:1: AutoDetect=nvml: answered by the Gres= of slurm.conf")
    assert told[1:] == [f"{tmp_path}/in/gres.conf:2: /opt/nic: not made, as devices are below /dev alone; "
                        "slurmd ends if the host has no such file"]  # fmt: skip


def test_a_gpu_of_several_files_counts_once(tmp_path: Path) -> None:
    gres = "Name=gpu MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap[1-2]\nName=gpu Type=a100 File=/dev/nvidia1\n"
    conf = site(tmp_path / "in", "GresTypes=gpu\nNodeName=g1 Gres=gpu:2\nNodeName=g2 Gres=gpu:a100:2\n", gres=gres)
    caps = ("/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap1", "/dev/nvidia-caps/nvidia-cap2", "/dev/nvidia1")
    assert devices(conf, conf.read_text(), ["g1"]) == {"g1": caps}
    (told,) = will_drain(conf, conf.read_text(), ["g1", "g2"])
    assert "1 nodes (g2 …) have Gres=gpu:a100 in slurm.conf, 2 of them on g2, but File= names 1" in told
