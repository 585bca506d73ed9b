"""Cores= of a site's gres.conf becomes the NUMA node at which the GPUs of its hosts are, where it is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix.rjms.scenario import load
from simunix.rjms.slurm.site.write import SiteFiles, import_site
from simunix.scenario.model import HostSection

CORES = "NodeName=n[1-2] Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 Gres=gpu:a100:4\n"


def imported_with_cores(folder: Path, gres: str, nodes: str = CORES) -> tuple[HostSection, list[str]]:
    """The host n1 of a site with this gres.conf, and what the import says of Cores=."""
    (folder / "slurm.conf").write_text(f"SlurmctldHost=c\nGresTypes=gpu\n{nodes}")
    (folder / "gres.conf").write_text(gres)
    found = import_site(SiteFiles(folder / "slurm.conf"), folder / "out")
    hosts = {name: host for host in load(folder / "out/scenario.yaml").hosts for name in host.name}
    return hosts["n1"], [
        f"{Path(each.place).name}: {each.what}: {each.reason}" for each in found.changes if "Cores" in each.what
    ]


def test_gpus_are_at_the_numa_node_of_their_cores(tmp_path: Path) -> None:
    gres = "Name=gpu Type=a100 File=/dev/nvidia[2-3] Cores=8-15\n"
    gres += "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-3,4-7\n"
    host, told = imported_with_cores(tmp_path, gres)
    assert [(each.type, each.count, each.numa) for each in host.gpus] == [("a100", 2, 1), ("a100", 2, 0)]
    assert host.numa_nodes == 2 and told == []


@pytest.mark.parametrize(
    ("cores", "reason"),
    [
        ("4-11", "these cores are on 2 of the sockets of n1"),
        ("8-16", "n1 has the cores 0 to 15"),
        ("0:7", "this is no list of cores such as 0-7,16-23"),
    ],
)
def test_cores_that_tell_no_numa_node_have_a_line(tmp_path: Path, cores: str, reason: str) -> None:
    host, told = imported_with_cores(tmp_path, f"Name=gpu Type=a100 File=/dev/nvidia[0-3] Cores={cores}\n")
    assert [(each.type, each.count, each.numa) for each in host.gpus] == [("a100", 4, None)] and host.numa_nodes == 1
    assert told == [f"gres.conf:1: Cores={cores}: kept in gres.conf; hosts' GPUs are spread over the NUMA nodes, as {reason}"]
    assert f"Cores={cores}" in (tmp_path / "out/gres.conf").read_text()


def test_other_gpus_than_those_of_slurm_conf_and_nodes_that_differ_have_a_line(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    _, told = imported_with_cores(tmp_path / "a", "Name=gpu Type=a100 File=/dev/nvidia[0-2] Cores=0-7\n")
    assert told[0].endswith("as slurm.conf has other GPUs on n1")
    gres = "".join(f"NodeName=n{n} Name=gpu Type=a100 File=/dev/nvidia[0-3] Cores={8 * n - 8}-{8 * n - 1}\n" for n in (1, 2))
    _, told = imported_with_cores(tmp_path / "b", gres)
    assert [line.rpartition(", as ")[2] for line in told] == ["it says else of other nodes of one NodeName line"] * 2
