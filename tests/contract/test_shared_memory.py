"""Only rsg_server/shared/ knows where the words of the shared memory lie: all other code calls its methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOM = ROOT / "rsg_server/shared"
FILES = [path for top in ("rsg_server", "simunix") for path in sorted((ROOT / top).rglob("*.py")) if path.parent != ROOM]
LAYOUT = ROOT / "rsg_server/protocol.py"
"""Where the places are read from the compiled header."""
PLACES = {"PAGE_FIELDS", "DEVICE_INODES", "DEVICE_WORDS", "STREAMS_OFFSET", "JOURNAL_MAX", "SHARED_BYTES", "TRAP_PLACES"}
"""What says where a word lies, or how many there are."""
CALLS = ("slot_", "doorbell_", "timer_queue_")
"""How the functions of C begin that read and write the memory by its address (csrc/shared/)."""


def trespasses(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a file that reach for words of the shared memory, each with what it names."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == "rsg_server.protocol":
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name in PLACES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rsg_server.shared"):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.startswith("_"))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "lib":
            if node.attr.startswith(CALLS):
                yield node.lineno, f"lib.{node.attr}"
        elif isinstance(node, ast.Attribute) and node.attr == "_words" and getattr(node.value, "id", "") != "self":
            yield node.lineno, "._words"


def test_nobody_else_knows_where_the_words_lie() -> None:
    found = ((path, line, name) for path in FILES if path != LAYOUT for line, name in trespasses(path.read_text()))
    assert [f"{path.relative_to(ROOT)}:{line}: {name}" for path, line, name in found] == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from rsg_server.protocol import PAGE_FIELDS, Op", "PAGE_FIELDS"),
        ("from rsg_server.shared.clock import _NOW", "_NOW"),
        ("kernel.shared.clock._words[0] = 1", "._words"),
        ("lib.timer_queue_pop(address)", "lib.timer_queue_pop"),
    ],
)
def test_whoever_does_is_named(text: str, name: str) -> None:
    assert list(trespasses(text)) == [(1, name)]
