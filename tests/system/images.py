"""Unpacked images of containers for tests: busybox, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from tests.needs import found

FOLDERS = ("bin", "dev", "etc", "proc", "root", "run", "sys", "tmp")
"""What is mounted over in the image, so that a container makes nothing there, and where programs are."""
NAMESPACES = ("pid", "network", "ipc", "uts", "mount")


def image(folder: Path, owner: int = 0) -> Path:
    """A root file system in which every name of busybox is a program, and its owner's."""
    root = folder / "rootfs"
    for name in FOLDERS:
        (root / name).mkdir(parents=True)
    busybox = found("busybox")
    assert busybox is not None
    shutil.copy2(busybox, root / "bin/busybox")
    names = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    for name in set(names) - {"busybox"}:
        (root / "bin" / name).symlink_to("busybox")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc/mtab").symlink_to("/proc/mounts")
    for path in (folder, *root.iterdir()):
        path.chmod(0o755)
    if owner != os.geteuid():
        subprocess.run(["chown", "-R", f"{owner}:{owner}", folder], check=True)
    return root


def bundle(folder: Path, command: str, rootless_of: int | None = None, runtime: str = "crun") -> Path:
    """A bundle as runtimes take it: an image, and how a shell command is run in it; for a user, whose id stands for root's.

    `crun spec`, or that of another runtime, writes what is usual; devices are not limited, which takes an eBPF program.
    """
    folder.mkdir()
    image(folder)
    subprocess.run([runtime, "spec", *(["--rootless"] if rootless_of is not None else [])], cwd=folder, check=True)
    config = json.loads((folder / "config.json").read_text())
    config["process"].update(terminal=False, args=["sh", "-c", command])
    config["linux"].pop("resources", None)
    if rootless_of is not None:
        one = [{"containerID": 0, "hostID": rootless_of, "size": 1}]
        config["linux"].update(uidMappings=one, gidMappings=one)
    (folder / "config.json").write_text(json.dumps(config))
    return folder
