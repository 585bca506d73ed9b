"""The files of /etc: hosts that see this computer's have copies of the run's beginning, below a layer of their own.

Tools replace such a file by renaming another one over it, as adduser and package managers do. Hosts would have the new one at
once, and the kernel takes away what is mounted over a file that is replaced: their own /etc/hosts.
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
MOUNTS = Path("/proc/self/mountinfo")


def copied_etc(folder: Path) -> Path:
    """Copy the files that are right in /etc, with owners, modes and times, as far as this user may read them."""
    folder.mkdir()
    with os.scandir(ETC) as entries:
        for entry in entries:
            with contextlib.suppress(PermissionError, FileNotFoundError):  # of another user, or gone since
                _copy(entry, folder / entry.name)
    return folder


def _copy(entry: os.DirEntry[str], copy: Path) -> None:
    if entry.is_symlink():
        copy.symlink_to(os.readlink(entry.path))
    elif entry.is_file():
        shutil.copyfile(entry.path, copy)
        _make_alike(copy, entry.stat())


def _make_alike(path: Path, status: os.stat_result) -> None:
    """Give a file or folder another one's owner, where this user may, its mode and its times."""
    with contextlib.suppress(OSError):  # in a user namespace the owner is this user anyway
        os.chown(path, status.st_uid, status.st_gid)
    path.chmod(stat.S_IMODE(status.st_mode))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def etc_layer(copies: Path, host: str, shared: Iterable[str], directory: RunDirectory) -> tuple[Temporary, ...]:
    """The layer of a host over /etc; none if /etc is shared. What is `shared` or mounted below stays this computer's."""
    kept = sorted({*(path for path in map(os.path.realpath, shared) if is_below(path, ETC)), *mounted_folders()})
    if ETC in kept:
        return ()
    outermost = tuple(path for path in kept if not any(path != other and is_below(path, other) for other in kept))
    layer = Temporary(ETC, directory.private(host, ETC), is_layer=True, shared=outermost, first=copies)
    upper = layer.source / "upper"
    if not upper.exists():  # not made yet: a host that boots again has it
        upper.mkdir(parents=True)
        _make_alike(upper, os.stat(ETC))
    return (layer,)


def mounted_folders() -> list[str]:
    """Folders below /etc in which something is mounted, such as a container's configuration; files there are copied."""
    points = (line.split()[4].encode().decode("unicode_escape") for line in MOUNTS.read_text().splitlines())
    return [point for point in points if is_below(point, ETC) and point != ETC and os.path.isdir(point)]
