"""Modules of simunix that programs inside run, as `python3 -m simunix.io_coordinator`: each host that needs them gets copies.

Python finds the copies by PYTHONPATH, which only the processes get whose command names such a module, and what they start. A
copy is there in every root, wherever simunix is installed, and nothing of a run is written into that place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import simunix
from simunix.launch.plan import FileSpec, PrivateSpec, ProcessSpec

FOLDER = "/var/lib/simunix-modules"
VARIABLE = "PYTHONPATH"
SOURCES = Path(simunix.__file__).resolve().parents[1]
_NAMED = re.compile(r"(?:^|\s)-m\s+(simunix(?:\.\w+)+)")


@dataclass(frozen=True, slots=True)
class Shipped:
    """Processes that find the modules which they name, and what their hosts need for that."""

    processes: tuple[ProcessSpec, ...]
    private: Mapping[str, tuple[PrivateSpec, ...]]
    files: tuple[FileSpec, ...]


def ship(processes: Sequence[ProcessSpec], environment: Mapping[str, str]) -> Shipped:
    """Give the processes whose commands name modules of simunix copies of these, unless PYTHONPATH is set by hand already."""
    needs = {}
    for number, process in enumerate(processes):
        is_set = VARIABLE in environment or VARIABLE in process.environment
        sources = frozenset() if is_set else sources_of(named(process.argv))
        if sources:
            needs[number] = sources
    found = [
        replace(process, environment={**process.environment, VARIABLE: FOLDER}) if number in needs else process
        for number, process in enumerate(processes)
    ]
    by_host: dict[str, set[Path]] = {}
    for number, sources in needs.items():
        by_host.setdefault(processes[number].host, set()).update(sources)
    files = (
        FileSpec(host, f"{FOLDER}/{source.relative_to(SOURCES)}", source.read_bytes())
        for host, sources in by_host.items()
        for source in sorted(sources)
    )
    return Shipped(tuple(found), {host: (PrivateSpec(FOLDER),) for host in by_host}, tuple(files))


def named(argv: Iterable[str]) -> list[str]:
    """The modules of simunix that a command runs, also where it is a text for the shell."""
    return _NAMED.findall(" ".join(argv))


def sources_of(modules: Iterable[str]) -> frozenset[Path]:
    """The files of these modules and of all of simunix that they import; none if that is more than Python's own text."""
    found: set[Path] = set()
    left = list(modules)
    while left:
        name = left.pop()
        file = _file(name)
        if file is None:
            return frozenset()
        if file in found:
            continue
        found.add(file)
        parent = name.rpartition(".")[0]
        left += [parent] if parent else []
        left += [f"{name}.__main__"] if _file(f"{name}.__main__") is not None else []
        left += _imported(file)
    return frozenset(found)


def _file(module: str) -> Path | None:
    """The file of a module, or of a package; None if it is no text of Python."""
    path = SOURCES.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def _imported(file: Path) -> list[str]:
    """The modules of simunix and its server that a file imports, by absolute names, as all of simunix does."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            below = [f"{node.module}.{alias.name}" for alias in node.names]
            names += [node.module, *(name for name in below if _file(name) is not None)]
    return [name for name in names if name.split(".")[0] in ("simunix", "rsg_server")]
