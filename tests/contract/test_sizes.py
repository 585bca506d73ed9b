"""Files, functions and folders stay small enough to be read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sorted(path for top in ("rsg_server", "simunix", "simunix_bench") for path in (ROOT / top).rglob("*.py"))
FOLDERS = sorted({path.parent for path in PYTHON})
C = sorted([*(ROOT / "csrc").rglob("*.c"), *(ROOT / "csrc").rglob("*.h")])


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(ROOT)))
def test_python(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 40, f"{path.name}:{node.lineno}: {node.name} has {length} lines"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_folder(folder: Path) -> None:
    assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= 20


@pytest.mark.parametrize("path", C, ids=lambda path: str(path.relative_to(ROOT)))
def test_c(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def test_few_conditionals_in_c() -> None:
    lines = [line for path in C for line in path.read_text().splitlines()]
    conditionals = [line for line in lines if line.startswith(("#if", "#el", "#endif"))]
    assert len(conditionals) * 1000 <= 40 * len(lines)
