"""The tree of files that shows a host's processors, its memory and its devices."""

from __future__ import annotations

import struct
from pathlib import Path

from simunix.launch.view.hardware import Hardware, PciDevice, cpu_list, cpu_mask
from simunix.launch.view.hardware_files import write_tree
from simunix.launch.view.memory_files import kib_of_nodes
from simunix.launch.view.pci_files import first_nic, slots

GPU, NIC = 0x030200, 0x020000
LARGE = Hardware(2, 8, 2, 1 << 30, 2, (PciDevice("gpu", 0x10DE, 0x20B0, GPU, 0), PciDevice("nic", 0x8086, 0x1592, NIC, 2)))


def texts_of(folder: Path) -> dict[str, str]:
    """The files of a folder by name, without the end of their last line."""
    return {file.name: file.read_text().rstrip("\n") for file in folder.iterdir() if file.is_file() and file.name != "config"}


def test_topology_of_threads_cores_and_sockets(tmp_path: Path) -> None:
    write_tree(tmp_path / "shape", Hardware(2, 5, 2, 1 << 30))
    assert texts_of(tmp_path / "shape/cpu/cpu7/topology") == {
        "core_id": "2",
        "physical_package_id": "1",
        "die_id": "0",
        "thread_siblings": "00020080",
        "thread_siblings_list": "7,17",
        "core_cpus": "00020080",
        "core_cpus_list": "7,17",
        "core_siblings": "000f83e0",
        "core_siblings_list": "5-9,15-19",
        "package_cpus": "000f83e0",
        "package_cpus_list": "5-9,15-19",
        "die_cpus": "000f83e0",
        "die_cpus_list": "5-9,15-19",
    }


def test_thousands_of_processors_share_files(tmp_path: Path) -> None:
    cpus = 128
    write_tree(tmp_path / "shape", Hardware(1, cpus, 1, 1 << 30, 1))
    files = [file for file in (tmp_path / "shape" / "cpu").rglob("*") if file.is_file()]
    assert len(files) == (14 + 3 * 10) * cpus + 10 + 4  # topology, caches of a core; the last cache, and the folder itself
    assert len({file.stat().st_ino for file in files}) < 3 * cpus


def test_caches_of_cores_and_of_what_shares_the_last_one(tmp_path: Path) -> None:
    write_tree(tmp_path / "shape", LARGE)
    folder = tmp_path / "shape/cpu/cpu21/cache"  # the second thread of core 5
    assert [texts_of(folder / f"index{index}")["shared_cpu_list"] for index in range(4)] == ["5,21"] * 3 + ["4-7,20-23"]
    assert [texts_of(folder / f"index{index}")["id"] for index in range(4)] == ["5", "5", "5", "1"]
    assert texts_of(folder / "index3") | {"id": ""} == {
        "level": "3",
        "type": "Unified",
        "size": "8192K",
        "coherency_line_size": "64",
        "number_of_sets": "8192",
        "physical_line_partition": "1",
        "ways_of_associativity": "16",
        "shared_cpu_map": "00f000f0",
        "shared_cpu_list": "4-7,20-23",
        "id": "",
    }


def test_numa_nodes_have_equal_parts_of_cores_and_memory(tmp_path: Path) -> None:
    write_tree(tmp_path / "shape", LARGE)
    node = tmp_path / "shape/node"
    assert texts_of(node)["online"] == "0-3"
    assert [texts_of(node / f"node{number}")["cpulist"] for number in range(4)] == [
        "0-3,16-19",
        "4-7,20-23",
        "8-11,24-27",
        "12-15,28-31",
    ]
    assert texts_of(node / "node3")["cpumap"] == "f000f000"
    assert [texts_of(node / f"node{number}")["distance"] for number in range(4)] == [
        "10 12 21 21",
        "12 10 21 21",
        "21 21 10 12",
        "21 21 12 10",
    ]
    assert "Node 2 MemTotal:         262144 kB" in texts_of(node / "node2")["meminfo"]
    assert (node / "node1/cpu21").resolve() == tmp_path / "shape/cpu/cpu21"
    assert (tmp_path / "shape/cpu/cpu21/node1").resolve() == node / "node1"


def test_memory_that_cannot_be_divided_is_at_the_last_node() -> None:
    assert kib_of_nodes(Hardware(3, 1, 1, 1000 << 10, 1)) == [332, 332, 336]
    assert kib_of_nodes(Hardware(3, 1, 1, 1000 << 10)) == [1000]


def test_without_a_word_about_nodes_the_host_is_one(tmp_path: Path) -> None:
    write_tree(tmp_path / "shape", Hardware(2, 2, 1, 1 << 30))
    assert texts_of(tmp_path / "shape/node") == dict.fromkeys(
        ("online", "possible", "has_cpu", "has_memory", "has_normal_memory"), "0"
    )
    assert texts_of(tmp_path / "shape/node/node0")["cpulist"] == "0-3"
    assert list((tmp_path / "shape/sys/bus/pci/devices").iterdir()) == []  # and none of this computer's devices are shown


def test_devices_have_buses_at_their_node(tmp_path: Path) -> None:
    assert [(slot.address, slot.device.kind, slot.node) for slot in slots(LARGE)] == [
        ("0000:00:00.0", "bridge", 0),
        ("0000:00:01.0", "bridge", 0),
        ("0000:01:00.0", "gpu", 0),
        ("0000:80:00.0", "bridge", 2),
        ("0000:80:01.0", "bridge", 2),
        ("0000:81:00.0", "nic", 2),
    ]
    write_tree(tmp_path / "shape", LARGE)
    found = tmp_path / "shape/sys/bus/pci/devices/0000:81:00.0"
    shown = texts_of(found)
    assert (shown["vendor"], shown["device"], shown["class"]) == ("0x8086", "0x1592", "0x020000")
    assert (shown["numa_node"], shown["local_cpulist"], shown["local_cpus"]) == ("2", "8-11,24-27", "0f000f00")
    assert found.resolve() == tmp_path / "shape/sys" / first_nic(LARGE)
    assert (tmp_path / "shape/sys/class/pci_bus/0000:81").resolve().parent.parent.name == "0000:80:01.0"


def test_the_configuration_space_says_what_the_files_say(tmp_path: Path) -> None:
    write_tree(tmp_path / "shape", LARGE)
    devices = tmp_path / "shape/sys/bus/pci/devices"
    gpu, bridge = ((devices / name / "config").read_bytes() for name in ("0000:01:00.0", "0000:00:01.0"))
    assert len(gpu) == 256
    assert struct.unpack_from("<HH", gpu) == (0x10DE, 0x20B0)
    assert (int.from_bytes(gpu[9:12], "little"), gpu[0x0E]) == (GPU, 0)
    assert (bridge[0x0E], *bridge[0x18:0x1B]) == (1, 0x00, 0x01, 0x01)  # type 1; the buses before, behind and last behind it
    assert gpu[gpu[0x34]] == 0x10  # PCI Express


def test_shapes_have_names_of_their_own() -> None:
    plain = Hardware(2, 8, 2, 1 << 30)
    numa = Hardware(2, 8, 2, 1 << 30, 2)
    assert plain.shape == "2x8x2-1073741824"  # as before there were nodes and devices
    assert len({plain.shape, numa.shape, LARGE.shape}) == 3


def test_sets_are_printed_as_the_kernel_prints_them() -> None:
    assert cpu_mask([0, 33]) == "00000002,00000001"
    assert cpu_mask([]) == "00000000"
    assert cpu_list([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"
