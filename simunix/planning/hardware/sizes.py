"""Makes the hardware of a scenario's hosts."""

from __future__ import annotations

from simunix.launch.view.hardware import Hardware
from simunix.planning.hardware.devices import pci_devices
from simunix.scenario.model import HostSection


def hardware_of(section: HostSection) -> Hardware:
    """Return processors, memory, NUMA nodes and devices of each host of a section."""
    return Hardware(
        section.sockets,
        section.cores_per_socket,
        section.threads_per_core,
        section.memory,
        section.numa_per_socket or 0,
        pci_devices(section.gpus, section.nics, section.numa_nodes),
    )
