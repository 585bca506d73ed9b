"""The paths that hosts have for themselves: owner, mode and first content."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.factory.container import PrivatePath
from simunix.launch.plan import PrivateSpec
from simunix.roots.tree import RootTree

MODE = 0o755
"""Of a path that does not exist in a host's root."""


def private_path(entry: PrivateSpec, source: Path, root: RootTree) -> PrivatePath:
    """A private path whose content lives at `source`, with its first content.

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
    """Copy with owners, modes and times, as far as this user may."""
    if source.exists():
        return  # another host's, of a folder that hosts share
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
