"""Topology-aware tools find on a host the hardware of its scenario: sockets, cores, caches, NUMA nodes, GPUs, network cards."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs

SIZES = "cores: 32, sockets: 2, threads_per_core: 2, numa_per_socket: 2, memory: 16GiB"
HOST = f"{{name: n1, {SIZES}, gpus: 'a100:4', nics: [{{type: hdr, count: 2}}]}}"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="without root this computer's devices may be in the way")


def shown(simunix: Simunix, tmp_path: Path, command: str, host: str = HOST) -> str:
    """What a command prints on the host."""
    text = f"hosts: [{host}]\nprocesses:\n- name: p\n  host: n1\n  command: |\n    {command}\n"
    (tmp_path / "s.yaml").write_text(text)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=100)
    assert done.returncode == 0, done.stderr
    return (tmp_path / "out/hosts/n1/p.out").read_text()


@needs("lscpu")
def test_lscpu(simunix: Simunix, tmp_path: Path) -> None:
    told = dict(re.findall(r"^(.+?): +(.+)$", shown(simunix, tmp_path, "lscpu"), re.MULTILINE))
    wanted = {
        "CPU(s)": "32",
        "Thread(s) per core": "2",
        "Core(s) per socket": "8",
        "Socket(s)": "2",
        "L1d cache": "512 KiB (16 instances)",
        "L3 cache": "32 MiB (4 instances)",
        "NUMA node(s)": "4",
        "NUMA node1 CPU(s)": "4-7,20-23",
        "NUMA node3 CPU(s)": "12-15,28-31",
    }
    assert {key: told.get(key) for key in wanted} == wanted


@needs("numactl")
def test_numactl_shows_the_nodes_and_binds_to_them(simunix: Simunix, tmp_path: Path) -> None:
    bound = "grep allowed_list /proc/self/status; numactl --show; cat /proc/self/numa_maps"
    text = shown(simunix, tmp_path, f"numactl -H; numactl --cpunodebind=3 --membind=3 sh -c '{bound}'; numactl -m 4 true || :")
    assert "available: 4 nodes (0-3)\n" in text
    assert "node 2 cpus: 8 9 10 11 24 25 26 27\nnode 2 size: 4096 MB\nnode 2 free: 2048 MB\n" in text
    assert "\n  1:  12  10  21  21 \n" in text
    assert "Cpus_allowed_list:\t12-15,28-31\nMems_allowed_list:\t0-3\n" in text
    assert "policy: bind\npreferred node: 3\n" in text and "cpubind: 3 \nnodebind: 3 \nmembind: 3 \n" in text
    assert re.search(r"^[0-9a-f]{12} bind:3 stack anon=(\d+) dirty=\1 active=0 N3=\1 kernelpagesize_kB=4$", text, re.MULTILINE)
    assert "node argument 4 is out of range" in (tmp_path / "out/hosts/n1/p.err").read_text()


@as_root
@needs("lstopo")
def test_lstopo_draws_packages_nodes_and_devices(simunix: Simunix, tmp_path: Path) -> None:
    console, xml = shown(simunix, tmp_path, "lstopo --of console; echo; lstopo --of xml").split("\n\n", 1)
    lines = [line.strip() for line in console.splitlines()]
    assert [lines.count(word) for word in ("Package L#1", "HostBridge", "PCIBridge")] == [1, 4, 6]
    assert [line for line in lines if line.startswith(("L3", "NUMANode", "PCI ", "Net"))] == [
        "L3 L#0 (8192KB)",
        "NUMANode L#0 (P#0 4096MB)",
        "PCI 01:00.0 (3D)",
        "PCI 02:00.0 (InfiniBand)",
        'Net "eth0"',
        "L3 L#1 (8192KB)",
        "NUMANode L#1 (P#1 4096MB)",
        "PCI 41:00.0 (3D)",
        "L3 L#2 (8192KB)",
        "NUMANode L#2 (P#2 4096MB)",
        "PCI 81:00.0 (3D)",
        "PCI 82:00.0 (InfiniBand)",
        "L3 L#3 (8192KB)",
        "NUMANode L#3 (P#3 4096MB)",
        "PCI c1:00.0 (3D)",
    ]
    assert xml.count('pci_type="0302 [10de:20b0] [10de:20b0] 00"') == 4
    assert (tmp_path / "out/hosts/n1/p.err").read_text() == ""  # hwloc complains of what does not fit together


@as_root
@needs("hwloc-bind")
def test_hwloc_binds_to_a_package(simunix: Simunix, tmp_path: Path) -> None:
    ask = "hwloc-bind --get --taskset; hwloc-bind --get --membind"
    assert shown(simunix, tmp_path, f"hwloc-bind package:1 --membind node:2 -- sh -c '{ask}'") == (
        "0xff00ff00\n0x0f000f00 (bind)\n"
    )


@pytest.mark.slurm
def test_slurmd_reports_what_the_scenario_says(simunix: Simunix, tmp_path: Path) -> None:
    line = shown(simunix, tmp_path, "slurmd -C").splitlines()[0]
    assert line == "NodeName=n1 CPUs=32 Boards=1 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=16384"


@as_root
def test_devices_of_this_computer_are_not_shown(simunix: Simunix, tmp_path: Path) -> None:
    assert (
        shown(simunix, tmp_path, "ls /sys/bus/pci/devices; echo; ls -d /sys/class/net/eth0/device || :", "{name: n1}") == "\n"
    )


PROGRAM = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def node():
    cpu, node = ctypes.c_uint(), ctypes.c_uint()
    assert libc.getcpu(ctypes.byref(cpu), ctypes.byref(node)) == 0
    return cpu.value, node.value
print(node())
os.sched_setaffinity(0, {22})
print(node())
if os.fork() == 0:
    print(node(), flush=True)
    os._exit(0)
os.wait()
"""


def test_a_program_learns_the_node_of_its_processor(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "nodes.py").write_text(PROGRAM)
    assert shown(simunix, tmp_path, f"python3 -u {tmp_path}/nodes.py") == "(0, 0)\n(22, 1)\n(22, 1)\n"
