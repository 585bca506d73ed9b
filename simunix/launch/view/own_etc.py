"""Copy files of /etc: a host that sees this computer's /etc has copies made at the start of the run, in a writable
layer of its own.

Tools such as adduser and package managers replace such a file by renaming a new file over it. Without copies, hosts
would see the new file at once, and the kernel would remove a mount over the replaced file, such as a host's own
/etc/hosts.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from simunix.launch.factory.container import Temporary, is_below
from simunix.launch.run_directory import RunDirectory

ETC = "/etc"
COPIED = ("passwd", "group", "shadow", "gshadow", "subuid", "subgid", "services", "ld.so.cache")
"""The files that tools replace and that programs read often. Copying more files would take more disk space than it is
worth.
"""
MOUNTS = Path("/proc/self/mountinfo")


def copied_etc(folder: Path) -> Path:
    """Copy the files of COPIED, with owners, modes and times, if they exist and this user may read them. Return the
    folder.
    """
    folder.mkdir()
    for name in COPIED:
        with contextlib.suppress(PermissionError, FileNotFoundError):
            _copy(Path(ETC, name), folder / name)
    return folder


def _copy(original: Path, copy: Path) -> None:
    if original.is_symlink():
        copy.symlink_to(original.readlink())
    elif original.is_file():
        shutil.copyfile(original, copy)
        _make_alike(copy, original.stat())


def _make_alike(path: Path, status: os.stat_result) -> None:
    """Give a file or folder the mode and the times of another one, and the owner if this user may."""
    with contextlib.suppress(OSError):  # in a user namespace this user is the owner in any case
        os.chown(path, status.st_uid, status.st_gid)
    path.chmod(stat.S_IMODE(status.st_mode))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def etc_layer(copies: Path, host: str, shared: Iterable[str], directory: RunDirectory) -> tuple[Temporary, ...]:
    """Return the layer of a host over /etc; none if /etc is shared. Paths that are `shared`, and mounts below /etc,
    stay this computer's.
    """
    kept = sorted({*(path for path in map(os.path.realpath, shared) if is_below(path, ETC)), *mounted_below()})
    if ETC in kept:
        return ()
    outermost = tuple(path for path in kept if not any(path != other and is_below(path, other) for other in kept))
    layer = Temporary(ETC, directory.private(host, ETC), is_layer=True, shared=outermost, first=copies)
    upper = layer.source / "upper"
    if not upper.exists():  # a host that boots again has its layer already
        upper.mkdir(parents=True)
        _make_alike(upper, os.stat(ETC))
    return (layer,)


def mounted_below() -> list[str]:
    """Return the paths below /etc at which something is mounted, such as a container's configuration; not the mounts of
    copied files.
    """
    points = (line.split()[4].encode().decode("unicode_escape") for line in MOUNTS.read_text().splitlines())
    copied = {f"{ETC}/{name}" for name in COPIED}
    return [
        point for point in points if is_below(point, ETC) and point != ETC and point not in copied and os.path.exists(point)
    ]
