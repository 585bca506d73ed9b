"""The folders /tmp and /var/tmp of hosts: each host has its own, wherever the run directory lies, and a writable layer
of its own over home folders.

In this computer's folders, hosts with equal process numbers and equal random numbers would choose equal names for their
files, and a run would find files of others. The plan tells which files are the user's own and shared: its shared
folders, the folders where its programs start, and the paths that its commands name.
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
"""The folders with users' homes, where shells keep their history and programs their settings. Changes by hosts of a
scenario stay in the run directory.
"""
MENTIONED = r"(?<![\w.~-])/(?:(?:var/)?tmp|home|root)/[^\s'\"`|&;<>()$*?\[\]{}=,:]+"
"""A regular expression for a path below a temporary or home folder in a command, which may be a text for a shell."""


def temporary_folders(host: HostSpec, plan: Plan, directory: RunDirectory) -> tuple[Temporary, ...]:
    """Return the temporary folders of a host that sees this computer's files."""
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
    """Return the paths in this computer's temporary folders that hosts see, sorted; no path is below another."""
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
    """Return whether a path is a whole temporary folder or a user's whole home folder."""
    return path in (*FOLDERS, *HOMES) or os.path.dirname(path) in HOMES[:1]


def _named(words: Iterable[str], are_files_seen: bool) -> Iterator[str]:
    """Yield the existing folders that words name, or the folders of the existing files that they name.

    For a file directly in a temporary folder, the file itself is yielded, unless hosts see this computer's files
    anyway.
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
    """Return the files that a host has written into its layers over temporary folders and /etc and not removed, sorted."""
    found = []
    for folder in (*FOLDERS, ETC):
        layer = directory.private(host, folder) / "upper"
        for path in layer.rglob("*"):
            if path.is_file() or path.is_symlink():  # but not the marks of overlayfs for removed files
                found.append(str(Path(folder) / path.relative_to(layer)))
    return sorted(found)
