"""Which form of this package runs: its hot modules compiled to machine code (csrc/build/build_server.py), or the Python of all.

The Python is the source of truth. The compiled form is taken only if it was built from the very modules that are there: of each
the size and the time of the last change are compared, else a checksum. So whoever edits a module runs what the module says,
interpreted until the next build. With SIMUNIX_PURE set, everything is interpreted.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec, source_hash
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parent
NAME = "rsg_server__mypyc"
PURE = "SIMUNIX_PURE"

form = "interpreted"
"""`compiled` or `interpreted`, for run.json."""
reason = ""
"""Why the modules are interpreted; empty if they are compiled."""


class Finder:
    """Finds the compiled modules in their library, before the import system looks for the Python files.

    The library is opened when the first of them is imported: `simunix --help` needs none.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self._library = str(FOLDER / found["library"])
        names = found["files"]
        self._paths = {f"rsg_server.{name.removesuffix('.py').replace('/', '.')}": f"{FOLDER}/{name}" for name in names}
        self._group: Any = None
        self._load: Any = None

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        """The import system's question: a spec for the compiled modules, None for all others."""
        origin = self._paths.get(name)
        if origin is None or (self._load is None and not self._open()):
            return None
        spec = ModuleSpec(name, self, origin=origin)  # type: ignore[arg-type]
        spec.has_location = True
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make the module and execute it: the function in the library does both."""
        module: ModuleType = self._load(getattr(self._group, f"init_{spec.name.replace('.', '___')}"))
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to be done."""

    def _open(self) -> bool:
        """Open the library; if that fails, the modules are interpreted."""
        global form, reason
        try:
            load = _extension("_load", self._library).load
            self._group = sys.modules[NAME] = _extension(NAME, self._library)
        except ImportError as error:
            form, reason = "interpreted", f"the library cannot be loaded: {error}"
            self._paths = {}
            return False
        self._load = load
        return True


def choose() -> None:
    """Decide for this process, before any other module of the package is imported."""
    global form, reason
    found = _manifest()
    if isinstance(found, str):
        reason = found
        return
    reason = _changed(found["files"])
    if not reason:
        form = "compiled"
        sys.meta_path.insert(0, Finder(found))
    elif sys.stderr is not None and sys.stderr.isatty():
        print(f"simunix: the server is interpreted: {reason}; to compile: python csrc/build/build_server.py", file=sys.stderr)


def description() -> str:
    """The form that runs, and why, if it is the interpreted one."""
    return f"{form} ({reason})" if reason else form


def _manifest() -> dict[str, Any] | str:
    """What the library was built from, or why there is none for this Python."""
    if os.environ.get(PURE):
        return f"{PURE} is set"
    try:
        found: dict[str, Any] = json.loads((FOLDER / "_compiled.json").read_bytes())
    except (OSError, ValueError):
        return "nothing is compiled"
    return found if found["library"].endswith(EXTENSION_SUFFIXES[0]) else "compiled for another Python"


def _changed(files: dict[str, list[Any]]) -> str:
    """Which module is not the one that was compiled; empty if none."""
    for name, (size, changed_ns, checksum) in files.items():
        path = f"{FOLDER}/{name}"
        try:
            status = os.stat(path)
            if (status.st_size, status.st_mtime_ns) == (size, changed_ns):
                continue
            with open(path, "rb") as file:
                same = source_hash(file.read()).hex() == checksum
        except OSError:
            same = False
        if not same:
            return f"{name} has changed since it was compiled"
    return ""


def _extension(name: str, library: str) -> Any:
    """A module of the library."""
    loader = ExtensionFileLoader(name, library)
    module = module_from_spec(ModuleSpec(name, loader, origin=library))
    loader.exec_module(module)
    return module
