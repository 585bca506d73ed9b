"""The description of a host's disks in /sys: files that are mounted over this computer's real ones.

The file `stat`, which counts transfers, is not written here: when a program opens it, the shim supplies the present
text (csrc/shim/sys/procfs/sockets.c).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import source_hash
from pathlib import Path

from rsg_server.platform.host import Host
from rsg_server.storage.disks import MAJOR, MINORS, SECTOR_BYTES, device_name
from simunix.launch.factory.container import Bind

BLOCK = "/sys/block"
BY_CLASS = "/sys/class/block"
BY_NUMBER = "/sys/dev/block"
QUEUE = {
    "hw_sector_size": "512",
    "logical_block_size": "512",
    "minimum_io_size": "512",
    "optimal_io_size": "0",
    "physical_block_size": "512",
    "read_ahead_kb": "128",
    "rotational": "1",
    "scheduler": "[none]",
}
DEVICE = {"model": "storage", "rev": "1", "type": "0", "vendor": "simunix"}


def block_binds(shared: Path, host: Host, mounts: bool) -> tuple[Bind, ...]:
    """Write the files that describe a host's disks, once for all hosts with disks of equal sizes. Return the binds that
    show them, if `mounts`.

    A storage without a capacity has the size of the host's own disk, as statfs(2) reports it.
    """
    if not mounts:
        return ()
    sizes = [host.disk_bytes, *(disk.capacity_bytes or host.disk_bytes for disk in host.disks)]
    tree = shared / f"block-{source_hash(repr(sizes).encode()).hex()}"
    if not tree.exists():
        _write(tree, sizes)
    return Bind(tree / "block", BLOCK), Bind(tree / "class", BY_CLASS), Bind(tree / "numbers", BY_NUMBER)


def _write(tree: Path, sizes: Sequence[int]) -> None:
    for folder in ("class", "numbers"):
        (tree / folder).mkdir(parents=True)
    for place, size_bytes in enumerate(sizes):
        name, number = device_name(place - 1), f"{MAJOR}:{MINORS * place}"
        for file, text in _files(name, number, size_bytes).items():
            path = tree / "block" / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
        (tree / "class" / name).symlink_to(f"../../block/{name}")
        (tree / "numbers" / number).symlink_to(f"../../block/{name}")


def _files(name: str, number: str, size_bytes: int) -> dict[str, str]:
    """Return the attributes of a disk that programs read, by file; see sysfs-block in the kernel's documentation."""
    major, minor = number.split(":")
    files = {
        "dev": number,
        "hidden": "0",
        "range": str(MINORS),
        "removable": "0",
        "ro": "0",
        "size": str(size_bytes // SECTOR_BYTES),
        "stat": " ".join(["       0"] * 17),
        "uevent": f"MAJOR={major}\nMINOR={minor}\nDEVNAME={name}\nDEVTYPE=disk",
    }
    files |= {f"queue/{file}": text for file, text in QUEUE.items()}
    return files | {f"device/{file}": text for file, text in DEVICE.items()}
