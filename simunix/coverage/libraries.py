"""Find the libraries that the dynamic loader loads with a program, by the rules of ld.so(8), without running the
program.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from simunix.coverage.image import Image, read_image
from simunix.roots.tree import THIS_COMPUTER, RootTree

CONFIGURATION = "/etc/ld.so.conf"
STANDARD = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib")
LIBC = ("libc.so.", "ld-linux-x86-64.so.", "libpthread.so.", "librt.so.", "libdl.so.", "libm.so.", "linux-vdso.so.")
"""File names of the C library. Which system calls its functions make is known from the names that other files import.
"""


def is_libc(name: str) -> bool:
    """Return whether a file name is that of a part of the C library."""
    return name.startswith(LIBC)


def load_closure(
    program: Image, library_path: str = "", tree: RootTree = THIS_COMPUTER
) -> tuple[list[Image], list[tuple[str, Path]]]:
    """Return all files that are loaded with a program, in the loader's order, and, for each missing library, its name
    and the file that needs it.
    """
    images: list[Image] = []
    missing: list[tuple[str, Path]] = []
    seen: set[str] = set()
    queue = deque([program])
    while queue:
        image = queue.popleft()
        for name in image.needed:
            if name in seen:
                continue
            seen.add(name)
            found = _find(name, (*image.search, *program.search), library_path, tree)
            if found is None:
                missing.append((name, image.path))
            else:
                images.append(found)
                queue.append(found)
    return images, missing


def plugins(images: list[Image], tree: RootTree = THIS_COMPUTER) -> list[Image]:
    """Return the libraries that programs with dlopen(3) are known to load: the files in the folders of their
    DT_RUNPATH, by name.
    """
    if not any("dlopen" in image.imports for image in images):
        return []
    folders = {folder for image in images for folder in image.search if folder not in STANDARD}
    loaded = {image.path.resolve() for image in images}
    files = sorted({file.resolve() for folder in folders for file in _inside(tree, folder).glob("*.so*")} - loaded)
    return [image for file in files if (image := read_image(file)) is not None]


def _find(name: str, search: tuple[str, ...], library_path: str, tree: RootTree) -> Image | None:
    if "/" in name:
        return read_image(_inside(tree, name))
    folders = [folder for folder in library_path.split(":") if folder]
    for folder in (*folders, *search, *configured(tree), *STANDARD):
        path = _inside(tree, f"{folder}/{name}")
        if path.is_file() and (image := read_image(path)) is not None:
            return image
    return None


def _inside(tree: RootTree, name: str) -> Path:
    """Return where a path of a root file system is on this computer. A path that was made from $ORIGIN is already a
    path of this computer.
    """
    return Path(name) if Path(name).is_relative_to(tree.path) else tree.locate(name)


@functools.cache
def configured(tree: RootTree = THIS_COMPUTER) -> tuple[str, ...]:
    """Return the folders that a root's ld.so.conf lists, together with the folders in the files that it includes."""
    return tuple(dict.fromkeys(_folders(tree, tree.locate(CONFIGURATION))))


def _folders(tree: RootTree, file: Path) -> Iterator[str]:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        fields = line.partition("#")[0].split()
        if fields[:1] == ["include"]:
            for pattern in fields[1:]:
                folder, _, last = pattern.rpartition("/")
                start = _inside(tree, folder) if folder.startswith("/") else file.parent / folder
                for included in sorted(start.glob(last)):
                    yield from _folders(tree, included)
        elif fields:
            yield fields[0]
