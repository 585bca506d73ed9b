"""Formatter, linter and type checker agree with the sources."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 128


@pytest.mark.parametrize(
    "arguments",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy", "--strict", "simunix", "rsg_server", "simunix_bench"),
    ],
    ids=["check", "format", "types"],
)
def test_tool(arguments: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(
    importlib.util.find_spec("clang_format") is None, reason="clang-format is not installed: pip install -e '.[test]'"
)
def test_c_is_formatted() -> None:
    """The version is pinned in pyproject.toml, since another one formats differently."""
    files = sorted((ROOT / "csrc").rglob("*.[ch]"))
    program = Path(sys.executable).with_name("clang-format")
    done = subprocess.run([program, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_line_of_c_is_too_long() -> None:
    """clang-format breaks code, and leaves comments and tables to their authors."""
    files = [path for path in sorted((ROOT / "csrc").rglob("*")) if path.suffix in (".c", ".h", ".S", ".def", ".tests")]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} columns"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > COLUMNS
    ]
    assert len(files) > 100
    assert not found, f"wrap these at {COLUMNS} columns:\n" + "\n".join(found)
