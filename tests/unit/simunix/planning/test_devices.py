"""GPUs and network cards of a scenario: how they may be written, which PCI devices they are, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.planning.expand import platform_of
from simunix.planning.hardware.devices import pci_devices
from simunix.rjms.scenario import load
from simunix.scenario.model import HostSection


def loaded(tmp_path: Path, host: str) -> HostSection:
    (tmp_path / "s.yaml").write_text(f"hosts: [{{name: n, {host}}}]\nprocesses: [{{name: p, host: n, command: 'true'}}]\n")
    return load(tmp_path / "s.yaml").hosts[0]


def gpus(tmp_path: Path, text: str, sizes: str = "cores: 8, sockets: 2, numa_per_socket: 2") -> list[tuple[int, int, int]]:
    """(vendor, device, NUMA node) of each."""
    host = loaded(tmp_path, f"{sizes}, gpus: {text}")
    return [(each.vendor, each.device, each.node) for each in pci_devices(host.gpus, host.nics, host.numa_nodes)]


@pytest.mark.parametrize("text", ["'a100:4'", "{type: a100, count: 4}", "4", "[a100, {type: a100, count: 3}]", "[2, 2]"])
def test_ways_to_write_four_gpus(tmp_path: Path, text: str) -> None:
    assert gpus(tmp_path, text) == [(0x10DE, 0x20B0, node) for node in range(4)]


def test_types_are_known_by_the_longest_name_in_theirs(tmp_path: Path) -> None:
    names = {"nvidia_a100-sxm4-80gb": 0x20B0, "tesla_v100": 0x1DB4, "NVIDIA-L40S": 0x26B9, "l40": 0x26B5, "other": 0xFFFF}
    for name, device in names.items():
        assert gpus(tmp_path, f"{{type: '{name}', numa: 3}}") == [(0x10DE, device, 3)]
    assert gpus(tmp_path, "{type: mi250x}") == [(0x1002, 0x740C, 0)]
    assert gpus(tmp_path, "{type: x, vendor: '1d94', device: '0x54b7'}") == [(0x1D94, 0x54B7, 0)]


def test_the_platform_knows_the_nodes(tmp_path: Path) -> None:
    loaded(tmp_path, "cores: 16, sockets: 2, threads_per_core: 2, numa_per_socket: 2")
    host = platform_of(load(tmp_path / "s.yaml"), tmp_path).hosts[0]
    assert (host.numa.nodes, host.numa.cores) == (4, 8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "cores: 12, sockets: 2, numa_per_socket: 4",
            "expected a divisor of 6, the number of cores of a socket, got 4",
        ),
        ("cores: 64, sockets: 16, numa_per_socket: 4", "numa_per_socket: expected 32 NUMA nodes at most, got 64"),
        ("cores: 2, gpus: {count: 1, numa: 1}", "gpus: numa: expected a number below 1, the number of NUMA nodes, got 1"),
        ("cores: 2, nics: 32", "gpus, nics: NUMA node 0 has 32 devices; expected 31 at most"),
        ("cores: 2, gpus: 100000000", "gpus: count: expected 256 at most, got 100000000"),
        ("cores: 2, gpus: 'a100 4'", "expected a number, TYPE or TYPE:COUNT such as 'a100:4', got 'a100 4'"),
        (
            "cores: 2, gpus: {vendor: 10de}, nics: {device: 12345}",
            "expected a number in hexadecimal and in quotes",
        ),
        ("cores: 2, gpus: -1", "Input should be greater than or equal to 1"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SimunixError) as refused:
        loaded(tmp_path, text)
    assert message in str(refused.value)
