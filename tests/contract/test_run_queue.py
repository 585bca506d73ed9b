"""Only one place picks the actor that runs next: only the run queue's own operations change the line of ready actors."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUEUE = ROOT / "rsg_server/process/run_queue.py"
OTHERS = [path for top in ("rsg_server", "simunix") for path in sorted((ROOT / top).rglob("*.py")) if path != QUEUE]
LINE = "run_queue_"
"""How the functions of C begin that change the line (csrc/turn/run_queue.h)."""
HANDED_ON = "core"
"""The attribute of the run queue that others hand on to the core, which has the line."""
OPERATIONS = {
    *("come_back", "first", "is_put_off", "nominate", "pick", "put_behind", "put_off", "ready", "resume", "stop", "withdraw")
}

MADE_BY = ("RunQueue(options.order)", "self.run_queue = run_queue\n")
"""The kernel makes the run queue; a part may show the one that it was given."""


def wrong(text: str) -> list[str]:
    """What a file does with the run queue that is not among its operations."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Attribute):
            continue
        if node.attr.startswith(LINE):
            found.append(f"line {node.lineno}: touches the line itself")
        elif getattr(node.value, "attr", getattr(node.value, "id", "")) == "run_queue" and node.attr not in {
            *OPERATIONS,
            HANDED_ON,
        }:
            found.append(f"line {node.lineno}: run_queue.{node.attr} is no operation of it")
        elif node.attr == "run_queue" and isinstance(node.ctx, ast.Store) and not any(made in text for made in MADE_BY):
            found.append(f"line {node.lineno}: makes another run queue")
    return found


def test_the_operations_are_those_that_the_run_queue_has() -> None:
    (queue,) = (node for node in ast.parse(QUEUE.read_text()).body if isinstance(node, ast.ClassDef))
    methods = {node.name for node in queue.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
    assert methods == OPERATIONS


def test_nobody_else_changes_the_line() -> None:
    assert {path: found for path in OTHERS if (found := wrong(path.read_text()))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "kernel.run_queue.append(actor)",
        "self.kernel.run_queue._line().clear()",
        "lib.run_queue_remove(queue, record)",
        "run_queue.insert(0, actor)",
        "self.run_queue = deque()",
    ],
)
def test_a_change_is_seen(text: str) -> None:
    assert wrong(text)
