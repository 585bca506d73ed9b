"""The GPUs and network cards of a host, shown as PCI devices: how many, of which type, at which NUMA node."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from simunix.scenario.section import Section

NODES_MOST = 32
"""The most NUMA nodes of a host, because the shim keeps sets of NUMA nodes in 32 bits."""
BUSES = 256
PORTS = 31
"""The number of devices on a PCI bus: its slots except for the first, which has the bridge of the processor."""
_TEXT = re.compile(r"(?P<type>[\w.+-]*[A-Za-z_][\w.+-]*)(?::(?P<count>[0-9]{1,4}))?")


def _number(value: object) -> int:
    """Return a 16-bit number from its hexadecimal notation, as `lspci -n` prints it."""
    if isinstance(value, str) and re.fullmatch(r"(?:0x)?[0-9A-Fa-f]{1,4}", value):
        return int(value, 16)
    raise ValueError(f"expected a number in hexadecimal and in quotes such as '10de', got {value!r:.60}")


PciNumber = Annotated[int, BeforeValidator(_number), WithJsonSchema({"type": "string"})]


class DeviceSection(Section):
    """PCI devices of one type. Without `numa`, they are spread over the host's NUMA nodes in equal blocks."""

    type: str = ""
    count: Annotated[int, Field(ge=1)] = 1
    numa: Annotated[int | None, Field(ge=0)] = None
    vendor: PciNumber | None = None
    device: PciNumber | None = None


def _section(value: object) -> object:
    """Return a section for a short form: a number, or TYPE or TYPE:COUNT as Slurm writes them."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {"count": value}
    if isinstance(value, str):
        found = _TEXT.fullmatch(value)
        if found is None:
            raise ValueError(f"expected a number, TYPE or TYPE:COUNT such as 'a100:4', got {value!r:.60}")
        return {"type": found["type"], "count": int(found["count"] or 1)}
    return value


def _sections(value: object) -> object:
    if value is None or value == 0:
        return []
    return [_section(each) for each in value] if isinstance(value, (list, tuple)) else [_section(value)]


def _allow_short(schema: dict[str, Any]) -> None:
    """Change the JSON Schema of a key to allow a number, a text, a section, or a list of these."""
    one = [{"type": "integer"}, {"type": "string"}, schema.pop("items")]
    schema.pop("type")
    schema["anyOf"] = [*one, {"type": "array", "items": {"anyOf": one}}]


Devices = Annotated[list[DeviceSection], BeforeValidator(_sections), Field(json_schema_extra=_allow_short)]


def nodes_of(sections: list[DeviceSection], nodes: int) -> list[tuple[DeviceSection, int]]:
    """Return each device with the number of its NUMA node: the one that its section gives; the others are spread in
    equal blocks.
    """
    spread = sum(section.count for section in sections if section.numa is None)
    placed: list[tuple[DeviceSection, int]] = []
    so_far = 0
    for section in sections:
        for _ in range(section.count):
            placed.append((section, so_far * nodes // spread if section.numa is None else section.numa))
            so_far += section.numa is None
    return placed


def devices_most(nodes: int) -> int:
    """Return how many PCI devices a NUMA node may have. Each node has an equal part of all bus numbers, and each device
    needs a bus of its own.
    """
    return min(BUSES // nodes - 1, PORTS)


def check_devices(gpus: list[DeviceSection], nics: list[DeviceSection], nodes: int) -> None:
    """Raise ValueError for devices at a NUMA node that does not exist, or for more devices than PCI has room for."""
    for key, sections in (("gpus", gpus), ("nics", nics)):
        for section in sections:
            if section.numa is not None and section.numa >= nodes:
                raise ValueError(f"{key}: numa: expected a number below {nodes}, the number of NUMA nodes, got {section.numa}")
            if section.count > BUSES:  # a quick check, since the devices are then counted one by one
                raise ValueError(f"{key}: count: expected {BUSES} at most, got {section.count}")
    numbers = [node for sections in (gpus, nics) for _, node in nodes_of(sections, nodes)]
    for node in sorted(set(numbers)):
        if numbers.count(node) > devices_most(nodes):
            raise ValueError(
                f"gpus, nics: NUMA node {node} has {numbers.count(node)} devices; expected {devices_most(nodes)} at most"
            )


def check_nodes(sockets: int, cores_per_socket: int, numa_per_socket: int) -> None:
    """Raise ValueError if a socket's cores cannot be divided into equal NUMA nodes, or if there are too many nodes."""
    if cores_per_socket % numa_per_socket:
        raise ValueError(
            f"numa_per_socket: expected a divisor of {cores_per_socket}, the number of cores of a socket, got {numa_per_socket}"
        )
    if sockets * numa_per_socket > NODES_MOST:
        raise ValueError(f"numa_per_socket: expected {NODES_MOST} NUMA nodes at most, got {sockets * numa_per_socket}")
