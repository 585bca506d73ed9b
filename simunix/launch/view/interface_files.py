"""The description of a host's network interfaces in /sys/class/net: files that are mounted over this computer's real
ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rsg_server.sockets.interfaces import Interface
from simunix.launch.factory.container import Bind

TARGET = "/sys/class/net"
DEVICES = "/sys/devices/virtual/net"
COUNTERS = (
    "rx_bytes",
    "rx_packets",
    "rx_errors",
    "rx_dropped",
    "tx_bytes",
    "tx_packets",
    "tx_errors",
    "tx_dropped",
    "collisions",
)


def interface_binds(shared: Path, own: Path, interfaces: Sequence[Interface], mounts: bool, nic: str = "") -> tuple[Bind, ...]:
    """Write the files for a host's interfaces, and return the binds that show them. `nic` is the folder below /sys of
    eth0's PCI device, or "".

    If mounts are allowed, all hosts whose links have equal speeds share the files, except for the file that identifies
    the interface.
    """
    if not mounts:
        tree = own / "interfaces"
        _write(tree, tree / "devices", interfaces)
        return _binds(tree)
    tree = shared / "-".join(("interfaces", str(interfaces[-1].speed_mbit), *filter(None, [Path(nic).name])))
    if not tree.exists():
        _write(tree, Path(DEVICES), interfaces)
        if nic:
            _put_at(tree, nic, interfaces[-1].name)
    address = own / "hardware-address"
    address.write_text(interfaces[-1].hardware.hex(":") + "\n")
    return (*_binds(tree), Bind(address, f"{DEVICES}/{interfaces[-1].name}/address"))


def _binds(tree: Path) -> tuple[Bind, ...]:
    return Bind(tree / "devices", DEVICES), Bind(tree / "class", TARGET)


def _write(tree: Path, devices: Path, interfaces: Sequence[Interface]) -> None:
    """Write the folders of the interfaces, and, as sysfs does, links to them in class/net; UCX recognises only links as
    interfaces.
    """
    (tree / "class").mkdir(parents=True)
    for interface in interfaces:
        (tree / "class" / interface.name).symlink_to(devices / interface.name)
        for name, text in _files(interface).items():
            path = tree / "devices" / interface.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")


def _put_at(tree: Path, nic: str, name: str) -> None:
    """Make an interface belong to a PCI device: hwloc finds the device by the link in class/net, other programs by
    `device`.
    """
    link = tree / "class" / name
    link.unlink()
    link.symlink_to(f"../../{nic}/net/{name}")
    (tree / "devices" / name / "device").symlink_to(f"/sys/{nic}")


def _files(interface: Interface) -> dict[str, str]:
    """Return the attributes of an interface that have a value, by file; see sysfs-class-net in the kernel's
    documentation.
    """
    files = {
        "addr_len": "6",
        "address": interface.hardware.hex(":"),
        "broadcast": "00:00:00:00:00:00" if interface.is_loopback else "ff:ff:ff:ff:ff:ff",
        "carrier": "1",
        "dev_id": "0x0",
        "dormant": "0",
        "flags": f"{interface.flags & 0xFFFF & ~0x40:#x}",
        "ifindex": str(interface.index),
        "iflink": str(interface.index),
        "link_mode": "0",
        "mtu": str(interface.mtu),
        "operstate": "unknown" if interface.is_loopback else "up",
        "tx_queue_len": "1000",
        "type": str(interface.kind),
        "uevent": f"INTERFACE={interface.name}\nIFINDEX={interface.index}",
    }
    if not interface.is_loopback:
        files |= {"duplex": "full", "speed": str(interface.speed_mbit)}
    return files | {f"statistics/{counter}": "0" for counter in COUNTERS}
