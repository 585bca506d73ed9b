"""Make the description of a scenario's hardware: processors, memory, NUMA nodes and devices of its hosts."""

from __future__ import annotations

from simunix.launch.view.hardware import Hardware
from simunix.planning.hardware.devices import pci_devices
from simunix.scenario.model import HostSection


def hardware_of(section: HostSection) -> Hardware:
    """Return the processors, memory, NUMA nodes and devices that each host of a section has."""
    return Hardware(
        section.sockets,
        section.cores_per_socket,
        section.threads_per_core,
        section.memory,
        section.numa_per_socket or 0,
        pci_devices(section.gpus, section.nics, section.numa_nodes),
    )
