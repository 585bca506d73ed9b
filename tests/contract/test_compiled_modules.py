"""The compiled modules keep the rules of mypyc that go beyond types: a violation would show only when the server runs."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def compiled_modules() -> list[str]:
    """The modules that are compiled, as paths relative to the package."""
    spec = importlib.util.spec_from_file_location("build_server", ROOT / "csrc/build/build_server.py")
    assert spec is not None and spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    found: list[str] = build.modules()
    return found


COMPILED = compiled_modules()
NAMES = {f"rsg_server.{name.removesuffix('.py').replace('/', '.')}" for name in COMPILED}
OTHERS = [
    path
    for top in ("rsg_server", "simunix")
    for path in sorted((ROOT / top).rglob("*.py"))
    if top != "rsg_server" or str(path.relative_to(ROOT / top)) not in COMPILED
]


def imports(tree: ast.AST) -> dict[str, str]:
    """By name, the module that a name of the file was imported from."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.asname or alias.name: str(node.module) for node in found for alias in node.names}


def classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def plain(node: ast.expr) -> str:
    """The name that an expression begins with: `Base` of `Base`, `Base[int]`; empty for unions."""
    inner = node.value if isinstance(node, ast.Subscript) else node
    return inner.id if isinstance(inner, ast.Name) else ""


def test_every_module_that_is_to_be_compiled_exists() -> None:
    assert [name for name in COMPILED if not (ROOT / "rsg_server" / name).is_file()] == []


def test_no_interpreted_class_has_a_compiled_base() -> None:
    """Python refuses that at run time: compile the module with the derived class as well."""
    found = []
    for path in OTHERS:
        tree = ast.parse(path.read_text())
        origin = imports(tree)
        found += [f"{path}: {node.name}" for node in classes(tree) for base in node.bases if origin.get(plain(base)) in NAMES]
    assert not found


@pytest.mark.parametrize("name", COMPILED)
def test_classes_of_fields_are_imported_at_run_time(name: str) -> None:
    """A field of a class that is imported below TYPE_CHECKING would be a null pointer when the module is imported."""
    tree = ast.parse((ROOT / "rsg_server" / name).read_text())
    checks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"]
    unseen = {key for check in checks for key in imports(check)}
    fields = [(node.name, part.annotation) for node in classes(tree) for part in node.body if isinstance(part, ast.AnnAssign)]
    assert not [f"{owner}: {plain(annotation)}" for owner, annotation in fields if plain(annotation) in unseen]
