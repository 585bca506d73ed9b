"""Chooses the form in which this package runs: hot modules compiled to machine code, or all modules as Python.

csrc/build/build_server.py compiles the hot modules, which are those that run at each turn. The Python files are the
source of truth: the compiled form is taken only if it was built from the very modules that are there. Each module's
size and time of last change are compared with those at the build; if these differ, the module's checksums are compared.
So an edited module has its effect at once, in the interpreter, until the next build. If the environment has
SIMUNIX_PURE, all modules are interpreted.
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
"""The form of the server that this process runs, for run.json: `compiled` or `interpreted`."""
reason = ""
"""The reason why the server's modules are interpreted, as text; empty if they are compiled."""


class Finder:
    """Finds the compiled modules in their library, before Python's import system looks for the Python files.

    The library is opened when the first compiled module is imported: `simunix --help` imports none.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self._library = str(FOLDER / found["library"])
        names = found["files"]
        self._paths = {f"rsg_server.{name.removesuffix('.py').replace('/', '.')}": f"{FOLDER}/{name}" for name in names}
        self._group: Any = None
        self._load: Any = None

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        """Return the import system's spec for a module that is compiled; None for all other modules."""
        origin = self._paths.get(name)
        if origin is None or (self._load is None and not self._open()):
            return None
        spec = ModuleSpec(name, self, origin=origin)  # type: ignore[arg-type]
        spec.has_location = True
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make a compiled module and execute it, in one step: a function in the library does both."""
        module: ModuleType = self._load(getattr(self._group, f"init_{spec.name.replace('.', '___')}"))
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: `create_module` has executed the module already."""

    def _open(self) -> bool:
        """Open the library of compiled modules; return False if that fails, in which case the Python files are imported."""
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
    """Choose the form of the server for this process, before any other module of the package is imported.

    The choice stands in `form` and `reason`. If the modules are interpreted because one has changed, a terminal gets a
    warning.
    """
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
    """Return the form of the server that runs, as text; for the interpreted form also the reason."""
    return f"{form} ({reason})" if reason else form


def _manifest() -> dict[str, Any] | str:
    """Return the record of what the library was built from, or as text the reason why this Python has no library."""
    if os.environ.get(PURE):
        return f"{PURE} is set"
    try:
        found: dict[str, Any] = json.loads((FOLDER / "_compiled.json").read_bytes())
    except (OSError, ValueError):
        return "nothing is compiled"
    return found if found["library"].endswith(EXTENSION_SUFFIXES[0]) else "compiled for another Python"


def _changed(files: dict[str, list[Any]]) -> str:
    """Return a text that names the first module which has changed since it was compiled; empty if none has."""
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
    """Import one module from the library of compiled modules, and return it."""
    loader = ExtensionFileLoader(name, library)
    module = module_from_spec(ModuleSpec(name, loader, origin=library))
    loader.exec_module(module)
    return module
