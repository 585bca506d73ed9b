"""The tree of files that shows a host's processors."""

from __future__ import annotations

from pathlib import Path

from simunix.launch.view.hardware import Hardware
from simunix.launch.view.hardware_files import write_tree


def test_topology_of_threads_cores_and_sockets(tmp_path: Path) -> None:
    write_tree(tmp_path / "shape", Hardware(2, 5, 2, 1 << 30))
    topology = tmp_path / "shape" / "cpu" / "cpu7" / "topology"
    texts = {file.name: file.read_text() for file in topology.iterdir()}
    assert texts == {
        "core_id": "2\n",
        "physical_package_id": "1\n",
        "die_id": "0\n",
        "thread_siblings": "00020080\n",
        "thread_siblings_list": "7,17\n",
        "core_cpus": "00020080\n",
        "core_cpus_list": "7,17\n",
        "core_siblings": "000f83e0\n",
        "core_siblings_list": "5-9,15-19\n",
        "package_cpus": "000f83e0\n",
        "package_cpus_list": "5-9,15-19\n",
        "die_cpus": "000f83e0\n",
        "die_cpus_list": "5-9,15-19\n",
    }


def test_thousands_of_processors_share_files(tmp_path: Path) -> None:
    cpus = 128
    write_tree(tmp_path / "shape", Hardware(1, cpus, 1, 1 << 30))
    files = [file for file in (tmp_path / "shape" / "cpu").rglob("*") if file.is_file()]
    assert len(files) == 14 * cpus + 4
    assert len({file.stat().st_ino for file in files}) < 3 * cpus
