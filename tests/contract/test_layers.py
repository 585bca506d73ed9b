"""Imports point one way: simunix -> rsg_server; inside, the edge -> handlers, kernel -> state -> network -> platform."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVER = sorted((ROOT / "rsg_server").rglob("*.py"))
EVERYTHING = [*SERVER, *sorted((ROOT / "simunix").rglob("*.py"))]
EDGE = {"service.py", "control.py", "loop.py"}


def imported(path: Path) -> set[str]:
    """Modules that a file imports when it runs (what stands under TYPE_CHECKING does not count)."""
    tree = ast.parse(path.read_text())
    found = set()
    skipped = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = {f"{node.module}.{alias.name}" for alias in node.names}
            submodules = {name for name in modules if (ROOT / f"{name.replace('.', '/')}.py").exists()}
            found |= submodules or {node.module}
    return found


@pytest.mark.parametrize("path", SERVER, ids=lambda path: str(path.relative_to(ROOT)))
def test_server_knows_no_rjms(path: Path) -> None:
    assert not any(name.split(".")[0] == "simunix" for name in imported(path))
    assert not re.search(r"\b(slurm|job)s?\b", path.read_text(), re.IGNORECASE)


@pytest.mark.parametrize("path", SERVER, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_edge_knows_trio_and_msgpack(path: Path) -> None:
    if path.name not in EDGE:
        assert not {"trio", "msgpack"} & {name.split(".")[0] for name in imported(path)}


def test_network_and_platform_stand_below_the_kernel() -> None:
    for folder in ("platform", "network"):
        for path in (ROOT / "rsg_server" / folder).glob("*.py"):
            above = {name for name in imported(path) if name.startswith("rsg_server.")}
            allowed = ("rsg_server.platform", "rsg_server.errors", "rsg_server.clock.timeline")
            allowed += ("rsg_server.network", "rsg_server._network") if folder == "network" else ()
            assert all(name.startswith(allowed) for name in above), f"{path}: {above}"


def test_no_import_cycles() -> None:
    graph = {}
    names = {
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__"): path for path in EVERYTHING
    }
    for name, path in names.items():
        graph[name] = {other for other in imported(path) if other in names}

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"import cycle: {' -> '.join((*trail, name))}"
        for other in graph.pop(name, set()):
            visit(other, (*trail, name))

    for name in list(graph):
        visit(name, ())


def test_a_command_starts_without_what_only_scenarios_need() -> None:
    """Half of the start of a small command was imports that it never used."""
    program = "import sys; from simunix.cli.main import main; main(['run', '--', 'true']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"pydantic", "yaml", "rich", "elftools", "networkx", "matplotlib", "distributed"} & set(done.stdout.split())
