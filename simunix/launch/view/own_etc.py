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
COPIED = ("passwd", "group", "shadow", "gshadow", "subuid", "subgid", "services", "ld.so.cache")
"""What tools replace and what programs read all the time; more would take more of a run directory's disk than it is worth."""
MOUNTS = Path("/proc/self/mountinfo")


def copied_etc(folder: Path) -> Path:
    """Copy the files of the list, with owners, modes and times, as far as there are any and this user may read them."""
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
    """Give a file or folder another one's owner, where this user may, its mode and its times."""
    with contextlib.suppress(OSError):  # in a user namespace the owner is this user anyway
        os.chown(path, status.st_uid, status.st_gid)
    path.chmod(stat.S_IMODE(status.st_mode))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def etc_layer(copies: Path, host: str, shared: Iterable[str], directory: RunDirectory) -> tuple[Temporary, ...]:
    """The layer of a host over /etc; none if /etc is shared. What is `shared` or mounted below stays this computer's."""
    kept = sorted({*(path for path in map(os.path.realpath, shared) if is_below(path, ETC)), *mounted_below()})
    if ETC in kept:
        return ()
    outermost = tuple(path for path in kept if not any(path != other and is_below(path, other) for other in kept))
    layer = Temporary(ETC, directory.private(host, ETC), is_layer=True, shared=outermost, first=copies)
    upper = layer.source / "upper"
    if not upper.exists():  # not made yet: a host that boots again has it
        upper.mkdir(parents=True)
        _make_alike(upper, os.stat(ETC))
    return (layer,)


def mounted_below() -> list[str]:
    """Where something is mounted below /etc, such as a container's configuration; not over files that are copied."""
    points = (line.split()[4].encode().decode("unicode_escape") for line in MOUNTS.read_text().splitlines())
    copied = {f"{ETC}/{name}" for name in COPIED}
    return [
        point for point in points if is_below(point, ETC) and point != ETC and point not in copied and os.path.exists(point)
    ]
