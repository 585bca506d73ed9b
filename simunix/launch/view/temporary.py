"""/tmp and /var/tmp: each host has its own, wherever the run directory lies; and a layer of its own over home folders.

In folders of this computer, hosts with equal process numbers and equal random numbers would choose equal names for their files,
and a run would find what others have left. What the user's own files are is told by the plan: its shared folders, the folders
where its programs start, and paths that its commands name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from simunix.launch.factory.container import Temporary, is_below
from simunix.launch.factory.factory import LIBRARY
from simunix.launch.plan import HostSpec, Plan
from simunix.launch.run_directory import RunDirectory
from simunix.launch.view.own_etc import ETC

FOLDERS = tuple(dict.fromkeys(map(os.path.realpath, ("/tmp", "/var/tmp"))))
HOMES = tuple(dict.fromkeys(map(os.path.realpath, ("/home", "/root"))))
"""Where shells keep their history and programs their settings: changes by hosts of a scenario stay in the run directory."""
MENTIONED = r"(?<![\w.~-])/(?:(?:var/)?tmp|home|root)/[^\s'\"`|&;<>()$*?\[\]{}=,:]+"
"""A path in a command, which may be a text for a shell."""


def temporary_folders(host: HostSpec, plan: Plan, directory: RunDirectory) -> tuple[Temporary, ...]:
    """The temporary folders of a host that sees this computer's files."""
    shared = shared_paths(plan, directory, host.sees_temporary_files)
    folders = []
    for path in FOLDERS if host.sees_temporary_files else (*FOLDERS, *HOMES):
        if not os.path.isdir(path) or path in shared or any(entry.path == path and path in HOMES for entry in host.private):
            continue
        source = directory.private(host.name, path)
        below = tuple(each for each in shared if is_below(each, path))
        folders.append(Temporary(path, source, host.sees_temporary_files or path in HOMES, below))
    return tuple(folders)


def shared_paths(plan: Plan, directory: RunDirectory, are_files_seen: bool) -> tuple[str, ...]:
    """What hosts see of this computer's own temporary folders, sorted, none below another."""
    found = {os.path.realpath(path) for path in (*plan.shared, str(directory.path), str(LIBRARY)) if os.path.exists(path)}
    for process in plan.processes:
        found.update(_named((process.directory, *process.argv), are_files_seen))
    kept: list[str] = []
    for path in sorted(found):
        if _is_temporary(path) and not any(is_below(path, other) for other in kept):
            kept.append(path)
    return tuple(kept)


def _is_temporary(path: str) -> bool:
    return any(is_below(path, folder) for folder in (*FOLDERS, *HOMES))


def _is_whole(path: str) -> bool:
    """Whether a path is a temporary folder itself, or the home folder of a user."""
    return path in (*FOLDERS, *HOMES) or os.path.dirname(path) in HOMES[:1]


def _named(words: Iterable[str], are_files_seen: bool) -> Iterator[str]:
    """Folders that words name, or the folder of the file that they name, if there are such folders now.

    A file right in a temporary folder has no folder of its own: a program is shared as it is, where files are not seen anyway.
    """
    for word in words:
        for name in re.findall(MENTIONED, word):
            path = Path(os.path.realpath(name))
            if not are_files_seen and str(path.parent) in FOLDERS and path.is_file() and os.access(path, os.X_OK):
                yield str(path)
            while not path.is_dir():
                path = path.parent
            if not _is_whole(str(path)) and _is_temporary(str(path)):
                yield str(path)


def left_files(host: str, directory: RunDirectory) -> list[str]:
    """Files that a host has written into its layers over temporary folders and /etc, and not removed; sorted."""
    found = []
    for folder in (*FOLDERS, ETC):
        layer = directory.private(host, folder) / "upper"
        for path in layer.rglob("*"):
            if path.is_file() or path.is_symlink():  # not what overlayfs marks removed files with
                found.append(str(Path(folder) / path.relative_to(layer)))
    return sorted(found)
