"""The libraries that the dynamic loader brings into a program, found by the rules of ld.so(8), without running anything."""

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
"""Files of the C library. The calls that they make are known by the names that other files import from them."""


def is_libc(name: str) -> bool:
    """Return whether a file name is one of the C library's."""
    return name.startswith(LIBC)


def load_closure(
    program: Image, library_path: str = "", tree: RootTree = THIS_COMPUTER
) -> tuple[list[Image], list[tuple[str, Path]]]:
    """Return all files loaded with a program, in the loader's order, and (name, wanted by) of each missing library."""
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
    """Return the libraries that programs using dlopen(3) are known to load: those in folders of DT_RUNPATH, by name."""
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
    """Return where a path of a root is on this computer; paths made from $ORIGIN are paths of this computer already."""
    return Path(name) if Path(name).is_relative_to(tree.path) else tree.locate(name)


@functools.cache
def configured(tree: RootTree = THIS_COMPUTER) -> tuple[str, ...]:
    """Return the folders of a root's ld.so.conf and of the files that it includes."""
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
