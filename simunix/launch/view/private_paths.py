"""The paths whose content each host has for itself: their owner, mode and first content."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.factory.container import PrivatePath, is_below
from simunix.launch.plan import HostSpec, PrivateSpec
from simunix.roots.tree import THIS_COMPUTER, RootTree

MODE = 0o755
"""The mode of a private path that does not exist in the host's root file system."""


CRONTABS = "/var/spool/cron/crontabs"
"""The folder of users' cron jobs, which hosts have for themselves; else an emulated cron would run this computer's
jobs.
"""


def with_crontabs(host: HostSpec) -> tuple[PrivateSpec, ...]:
    """Return the private paths of a host, together with an empty folder of cron jobs if the host sees this computer's
    files.
    """
    is_covered = any(is_below(CRONTABS, entry.path) for entry in host.private)
    if host.root != THIS_COMPUTER or host.sees_temporary_files or is_covered or not os.path.isdir(CRONTABS):
        return host.private
    return (*host.private, PrivateSpec(CRONTABS, mode=None))


def private_path(entry: PrivateSpec, source: Path, root: RootTree) -> PrivatePath:
    """Return a private path whose content lies at `source`, with its first content.

    A daemon finds the owner and the mode that its package has given to the folder, unless the entry says otherwise.
    """
    original = root.locate(entry.path)
    owner, mode = entry.owner, entry.mode
    if entry.copied and not original.is_dir():
        raise SimunixError(f"private path {entry.path}: no such folder in {root.path} to copy; leave out content: copy")
    if entry.copied:
        _copy(original, source)
    if mode is None and original.is_dir():
        status = original.stat()
        owner = owner or f"{status.st_uid}:{status.st_gid}"
        mode = stat.S_IMODE(status.st_mode)
    return PrivatePath(entry.path, source, owner, MODE if mode is None else mode)


def _copy(original: Path, source: Path) -> None:
    """Copy a file or folder with owners, modes and times, as far as this user may."""
    if source.exists():
        return  # another host has made the copy of this shared folder
    source.mkdir(parents=True)
    done = subprocess.run(
        ["cp", "-a", "--reflink=auto", f"{original}/.", source],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.defpath, "LC_ALL": "C"},
    )
    if done.returncode != 0:
        raise SimunixError(f"private path {original}: cannot be copied: {done.stderr.splitlines()[0].removeprefix('cp: ')}")
