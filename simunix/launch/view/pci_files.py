"""The description of a host's PCI devices: folders like those of sysfs, with the configuration space that libpciaccess
reads.

Each NUMA node has a host bridge with a bus; as in PCI Express, each device is behind a bridge of its own. The folders
are in /sys/devices/platform, which every computer has; /sys/bus/pci/devices has links to them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simunix.launch.view.hardware import Hardware, PciDevice, cpu_list, cpu_mask

BUS, PLATFORM, BUSES = "bus/pci/devices", "devices/platform", "class/pci_bus"
SHOWN = (BUS, PLATFORM, BUSES)
"""The folders below /sys that are shown if a host has devices. A host without devices has an empty bus, since this
computer's devices are not its own.
"""
BUS_NUMBERS = 256
CONFIG_BYTES = 256
BRIDGE = PciDevice("bridge", 0x8086, 0x347A, 0x060400, 0)
HOST_BRIDGE = PciDevice("bridge", 0x8086, 0x09A2, 0x060000, 0)
CAPABILITY_AT = 0x40
GENERATION, LANES = 4, 16
"""The generation and the number of lanes of every PCI Express link: 16 GT/s on each lane."""
LINK = {"speed": "16.0 GT/s PCIe", "width": str(LANES)}


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a device: its bus and slot, its folder below /sys/devices/platform, and, for a bridge, the bus
    behind it.
    """

    device: PciDevice
    bus: int
    slot: int
    folder: str
    node: int
    behind: int = 0

    @property
    def address(self) -> str:
        """The address of the device as lspci prints it."""
        return f"0000:{self.bus:02x}:{self.slot:02x}.0"

    @property
    def path(self) -> str:
        """The folder of the device, below /sys/devices/platform."""
        return f"{self.folder}/{self.address}"


def slots(hardware: Hardware) -> Iterator[Slot]:
    """Yield every device with its place, after the bridge to it; NUMA nodes have equal shares of the bus numbers."""
    for node in sorted({device.node for device in hardware.devices}):
        root = node * (BUS_NUMBERS // hardware.nodes)
        folder = f"pci0000:{root:02x}"
        yield Slot(HOST_BRIDGE, root, 0, folder, node)
        of_node = [device for device in hardware.devices if device.node == node]
        for number, device in enumerate(of_node, start=1):
            bridge = Slot(BRIDGE, root, number, folder, node, root + number)
            yield bridge
            yield Slot(device, root + number, 0, bridge.path, node)


def first_nic(hardware: Hardware | None) -> str:
    """Return the folder below /sys of the host's first network card, which is eth0; "" if it has none."""
    placed = slots(hardware) if hardware is not None else ()
    return next((f"{PLATFORM}/{slot.path}" for slot in placed if slot.device.kind == "nic"), "")


def _config(slot: Slot) -> bytes:
    """Return the configuration space of a device: the header (type 0; for a bridge, type 1) and the capability of PCI
    Express with the link's state.
    """
    device = slot.device
    space = bytearray(CONFIG_BYTES)
    struct.pack_into("<HHHH", space, 0, device.vendor, device.device, 0x0406, 0x0010)
    space[9:12] = device.pci_class.to_bytes(3, "little")
    if slot.behind:
        space[0x0E] = 1
        space[0x18:0x1B] = bytes((slot.bus, slot.behind, slot.behind))
    else:
        struct.pack_into("<HH", space, 0x2C, device.vendor, device.device)
    space[0x34] = CAPABILITY_AT
    port = 4 if slot.behind else 0
    struct.pack_into("<BBH", space, CAPABILITY_AT, 0x10, 0, port << 4 | 2)
    struct.pack_into("<I", space, CAPABILITY_AT + 0x0C, LANES << 4 | GENERATION)
    struct.pack_into("<H", space, CAPABILITY_AT + 0x12, LANES << 4 | GENERATION)
    return bytes(space)


def _texts(slot: Slot, cpus: list[int]) -> dict[str, str]:
    """Return the content of a device's files by name; see sysfs-bus-pci in the kernel's documentation."""
    device = slot.device
    number = f"{device.vendor:04X}:{device.device:04X}"
    texts = {
        "vendor": f"{device.vendor:#06x}",
        "device": f"{device.device:#06x}",
        "subsystem_vendor": f"{device.vendor:#06x}",
        "subsystem_device": f"{device.device:#06x}",
        "class": f"{device.pci_class:#08x}",
        "revision": "0x00",
        "irq": "0",
        "enable": "1",
        "numa_node": str(slot.node),
        "local_cpus": cpu_mask(cpus),
        "local_cpulist": cpu_list(cpus),
        "resource": "\n".join(["0x0000000000000000 0x0000000000000000 0x0000000000000000"] * (17 if slot.behind else 13)),
        "uevent": f"PCI_CLASS={device.pci_class:X}\nPCI_ID={number}\nPCI_SLOT_NAME={slot.address}",
    }
    if device.pci_class != HOST_BRIDGE.pci_class:
        texts |= {f"{which}_link_{name}": text for which in ("current", "max") for name, text in LINK.items()}
    return texts


def _write_bus(sys: Path, folder: str, number: int, cpus: list[int]) -> None:
    """Write the folder of a PCI bus, and its name in /sys/class/pci_bus."""
    path = sys / PLATFORM / folder / "pci_bus" / f"0000:{number:02x}"
    path.mkdir(parents=True)
    (path / "cpuaffinity").write_text(cpu_mask(cpus) + "\n")
    (path / "cpulistaffinity").write_text(cpu_list(cpus) + "\n")
    (sys / BUSES / path.name).symlink_to(f"../../{path.relative_to(sys)}")


def write_pci(sys: Path, hardware: Hardware) -> None:
    """Write the folders of `SHOWN` below `sys`."""
    (sys / BUS).mkdir(parents=True)
    if not hardware.devices:
        return
    (sys / PLATFORM).mkdir(parents=True)
    (sys / BUSES).mkdir(parents=True)
    for slot in slots(hardware):
        cpus = hardware.cpus_of_node(slot.node)
        folder = sys / PLATFORM / slot.path
        folder.mkdir(parents=True)
        for name, text in _texts(slot, cpus).items():
            (folder / name).write_text(text + "\n")
        (folder / "config").write_bytes(_config(slot))
        (folder / "subsystem").symlink_to("/sys/bus/pci")
        (sys / BUS / slot.address).symlink_to(f"../../../{PLATFORM}/{slot.path}")
        if slot.slot == 0 and slot.device is HOST_BRIDGE:
            _write_bus(sys, slot.folder, slot.bus, cpus)
        if slot.behind:
            _write_bus(sys, slot.path, slot.behind, cpus)
    if nic := first_nic(hardware):
        (sys / nic / "net").mkdir()
        (sys / nic / "net" / "eth0").symlink_to("/sys/devices/virtual/net/eth0")
