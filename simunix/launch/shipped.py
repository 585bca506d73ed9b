"""Copy modules of simunix that emulated programs run, such as `python3 -m simunix.io_coordinator`, to the hosts that
need them.

Python finds the copies by PYTHONPATH. That variable is set only for processes whose commands name such a module, and
for their children. So a module exists in every root file system, wherever simunix is installed.
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
    """The processes with PYTHONPATH set where a command names a module of simunix, and the files that their hosts need
    for that.
    """

    processes: tuple[ProcessSpec, ...]
    private: Mapping[str, tuple[PrivateSpec, ...]]
    files: tuple[FileSpec, ...]


def ship(processes: Sequence[ProcessSpec], environment: Mapping[str, str]) -> Shipped:
    """Give the processes whose commands name modules of simunix copies of these modules. A process whose PYTHONPATH is
    already set is left unchanged.
    """
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
    """Return the modules of simunix that a command runs, also if the command is a text for a shell."""
    return _NAMED.findall(" ".join(argv))


def sources_of(modules: Iterable[str]) -> frozenset[Path]:
    """Return the files of the given modules and of all modules of simunix that they import; empty if a module is not
    plain Python.
    """
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
    """Return the file of a module or package; None if it is no Python source."""
    path = SOURCES.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def _imported(file: Path) -> list[str]:
    """Return the modules of simunix and rsg_server that a file imports by absolute names, as all files of simunix do."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            below = [f"{node.module}.{alias.name}" for alias in node.names]
            names += [node.module, *(name for name in below if _file(name) is not None)]
    return [name for name in names if name.split(".")[0] in ("simunix", "rsg_server")]
