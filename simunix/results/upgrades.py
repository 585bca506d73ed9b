"""Finds programs and libraries that were changed while a run used them, as an upgrade of a package does.

The kernel notes when a file was last changed or replaced (ctime), which no program can set back. A run checks files in the
folders of the system and the programs of its plan. What its hosts compile elsewhere they may change. Not checked are
modules of interpreters, and plugins outside of the folders that a program's file lists (DT_RUNPATH).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from simunix.coverage.image import Image, read_image
from simunix.coverage.libraries import STANDARD, configured, load_closure, plugins
from simunix.launch.emulation import Emulation
from simunix.launch.view.own_etc import COPIED, ETC
from simunix.results.versions import program_files
from simunix.roots.tree import RootTree

SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/")
SHOWN = 3
"""The most files that the warning lists."""


def upgraded(emulation: Emulation) -> list[str]:
    """Return a line about what was changed on this computer while the run used it; [] if nothing was."""
    hosts = emulation.kernel.hosts
    programs: dict[RootTree, set[str]] = {}
    for host in emulation.plan.hosts:
        programs.setdefault(host.root, set()).update(hosts[host.name].programs)
    found = {path for root, names in programs.items() for path in _changed(root, names, emulation.begun_real_ns)}
    for _, path in program_files(emulation.plan).values():
        if path.exists() and _since(path, emulation.begun_real_ns):  # a missing one may be a host's own
            found.add(str(path))
    found |= set(_etc(emulation))
    if not found:
        return []
    names = sorted(found)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    verb, them = ("was", "it") if len(names) == 1 else ("were", "them")
    return [f"{', '.join(names[:SHOWN])}{more} {verb} changed on this computer while the run used {them}"]


def _etc(emulation: Emulation) -> Iterator[str]:
    """Yield the files of /etc that have changed, if hosts had no files of their own in their places."""
    if emulation.layers is None:
        return
    own = {*COPIED, "hosts", "hostname", "nsswitch.conf", "resolv.conf"} if ETC in emulation.layers else set()
    for entry in os.scandir(ETC):
        is_seen = entry.name not in own and not entry.is_symlink() and not is_backup(entry.name)
        if is_seen and entry.is_file() and _since(Path(entry.path), emulation.begun_real_ns):
            yield entry.path


def is_backup(name: str) -> bool:
    """Return whether a file of /etc was left by a tool beside the file that it changes: a lock, an old version."""
    return name.startswith(".") or name.endswith(("-", "~", ".lock"))


def _changed(root: RootTree, programs: Iterable[str], since_ns: int) -> Iterator[str]:
    """Yield the paths of a root's programs that have changed, and of libraries that they load."""
    files = {name: root.locate(name) for name in programs if name.startswith(SYSTEM)}
    yield from (str(path) for path in files.values() if _since(path, since_ns))
    libraries = {path.resolve() for folder in _folders(root) for path in _changed_in(folder, since_ns)}
    if libraries:  # only now: to read every program takes a second
        yield from (str(path) for path in libraries & _loaded(root, files))


def _folders(root: RootTree) -> set[Path]:
    """Return the folders of libraries, and their direct subfolders, which contain plugins."""
    above = {root.locate(folder) for folder in (*STANDARD, *configured(root))}
    folders = {folder for folder in above if folder.is_dir()}
    return folders | {Path(entry.path) for folder in folders for entry in os.scandir(folder) if entry.is_dir()}


def _changed_in(folder: Path, since_ns: int) -> Iterator[Path]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    yield from (Path(entry.path) for entry in entries if ".so" in entry.name and _since(Path(entry.path), since_ns))


def _loaded(root: RootTree, files: Mapping[str, Path]) -> set[Path]:
    """Return the libraries that programs load, as far as their files say."""
    images = [image for path in files.values() if (image := read_image(path)) is not None]
    closure: list[Image] = [loaded for image in images for loaded in load_closure(image, tree=root)[0]]
    return {image.path.resolve() for image in (*closure, *plugins([*images, *closure], root))}


def _since(path: Path, since_ns: int) -> bool:
    """Return whether a file has changed or gone.

    A file that only hosts have, at a private path, has no folder here that has changed.
    """
    try:
        return path.stat().st_ctime_ns >= since_ns
    except FileNotFoundError:
        return path != path.parent and _since(path.parent, since_ns)
    except OSError:
        return False
