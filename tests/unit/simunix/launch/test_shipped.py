"""Which processes get copies of simunix's own modules, and of which files."""

from __future__ import annotations

import pytest

from simunix.launch.plan import FileSpec, ProcessSpec
from simunix.launch.shipped import FOLDER, SOURCES, named, ship, sources_of

COORDINATOR = ("/bin/sh", "-c", "exec python3 -m simunix.io_coordinator --policy fifo")


def process(name: str, host: str, argv: tuple[str, ...], **environment: str) -> ProcessSpec:
    return ProcessSpec(name, host, argv, environment=environment)


def names(files: tuple[FileSpec, ...], host: str) -> list[str]:
    return [file.path.removeprefix(FOLDER + "/") for file in files if file.host == host]


@pytest.mark.parametrize(
    ("argv", "modules"),
    [
        (COORDINATOR, ["simunix.io_coordinator"]),
        (("python3", "-u", "-m", "simunix.rjms.slurm.packs", "jobs.csv"), ["simunix.rjms.slurm.packs"]),
        (("/bin/sh", "-c", "a -m simunix.x & b -m simunix.y.z\n"), ["simunix.x", "simunix.y.z"]),
        (("simunix", "run"), []),
        (("python3", "-m", "trio"), []),
        (("git", "commit", "-m", "simunix"), []),
    ],
)
def test_modules_that_a_command_names(argv: tuple[str, ...], modules: list[str]) -> None:
    assert named(argv) == modules


def test_a_module_comes_with_all_that_it_imports() -> None:
    found = {str(path.relative_to(SOURCES)) for path in sources_of(["simunix.rjms.slurm.packs"])}
    assert {"simunix/__init__.py", "simunix/rjms/slurm/packs.py", "simunix/rjms/slurm/__init__.py"} <= found
    assert {"simunix/columns.py", "simunix/io_coordinator/packs.py"} <= found
    assert "simunix/io_coordinator/daemon.py" in {
        str(path.relative_to(SOURCES)) for path in sources_of(["simunix.io_coordinator"])
    }


@pytest.mark.parametrize("module", ["simunix.rsg.function", "simunix.no_such_module"])
def test_what_is_not_python_alone_is_not_copied(module: str) -> None:
    assert sources_of([module]) == frozenset()


def test_processes_and_their_hosts() -> None:
    plain, own = process("p", "c", ("/bin/true",)), process("o", "d", COORDINATOR, PYTHONPATH="/srv")
    shipped = ship([process("a", "h", COORDINATOR, X="1"), process("b", "h", COORDINATOR), plain, own], {"PATH": "/bin"})
    assert shipped.processes[0].environment == {"X": "1", "PYTHONPATH": FOLDER}
    assert shipped.processes[2:] == (plain, own)
    assert list(shipped.private) == ["h"]
    assert "simunix/io_coordinator/__main__.py" in names(shipped.files, "h") and not names(shipped.files, "d")
    assert len(set(names(shipped.files, "h"))) == len(shipped.files)


def test_a_scenario_that_says_itself_where_modules_are_is_left_alone() -> None:
    given = process("a", "h", COORDINATOR)
    assert ship([given], {"PYTHONPATH": "/srv"}).processes == (given,)
