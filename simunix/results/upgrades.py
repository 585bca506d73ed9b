"""Find programs and libraries that changed during a run which used them, for example by the upgrade of a package.

The kernel records when a file was last changed or replaced (ctime), and no program can set that time back. A run checks
the files in the system's folders, and the programs of its plan. Files in other folders are not checked, since hosts may
compile programs. Modules of interpreters, and plugins outside of the folders in a program's DT_RUNPATH, are not checked
either.
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
"""The most changed files that the warning about an upgrade lists."""


def upgraded(emulation: Emulation) -> list[str]:
    """Return a line that lists the files of this computer which changed during the run; [] if none did."""
    hosts = emulation.kernel.hosts
    programs: dict[RootTree, set[str]] = {}
    for host in emulation.plan.hosts:
        programs.setdefault(host.root, set()).update(hosts[host.name].programs)
    found = {path for root, names in programs.items() for path in _changed(root, names, emulation.begun_real_ns)}
    for _, path in program_files(emulation.plan).values():
        if path.exists() and _since(path, emulation.begun_real_ns):  # a missing file may exist only on the host
            found.add(str(path))
    found |= set(_etc(emulation))
    if not found:
        return []
    names = sorted(found)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    verb, them = ("was", "it") if len(names) == 1 else ("were", "them")
    return [f"{', '.join(names[:SHOWN])}{more} {verb} changed on this computer while the run used {them}"]


def _etc(emulation: Emulation) -> Iterator[str]:
    """Yield the files of /etc that have changed, unless hosts had their own copies."""
    if emulation.layers is None:
        return
    own = {*COPIED, "hosts", "hostname", "nsswitch.conf", "resolv.conf"} if ETC in emulation.layers else set()
    for entry in os.scandir(ETC):
        is_seen = entry.name not in own and not entry.is_symlink() and not is_backup(entry.name)
        if is_seen and entry.is_file() and _since(Path(entry.path), emulation.begun_real_ns):
            yield entry.path


def is_backup(name: str) -> bool:
    """Return whether a file of /etc is a lock or an old version that a tool made beside a file."""
    return name.startswith(".") or name.endswith(("-", "~", ".lock"))


def _changed(root: RootTree, programs: Iterable[str], since_ns: int) -> Iterator[str]:
    """Yield the paths of those programs of a root that have changed, and of the changed libraries that they load."""
    files = {name: root.locate(name) for name in programs if name.startswith(SYSTEM)}
    yield from (str(path) for path in files.values() if _since(path, since_ns))
    libraries = {path.resolve() for folder in _folders(root) for path in _changed_in(folder, since_ns)}
    if libraries:  # programs are read only if a library has changed, because reading all of them takes a second
        yield from (str(path) for path in libraries & _loaded(root, files))


def _folders(root: RootTree) -> set[Path]:
    """Return the folders of libraries, with their direct subfolders, which have plugins."""
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
    """Return the libraries that programs load, by the programs' files."""
    images = [image for path in files.values() if (image := read_image(path)) is not None]
    closure: list[Image] = [loaded for image in images for loaded in load_closure(image, tree=root)[0]]
    return {image.path.resolve() for image in (*closure, *plugins([*images, *closure], root))}


def _since(path: Path, since_ns: int) -> bool:
    """Return whether a file has been changed or removed since a moment.

    A file at a private path exists on a host only. Such a file counts as unchanged, since this computer has no folder for it.
    """
    try:
        return path.stat().st_ctime_ns >= since_ns
    except FileNotFoundError:
        return path != path.parent and _since(path.parent, since_ns)
    except OSError:
        return False
