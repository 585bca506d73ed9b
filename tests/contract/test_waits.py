"""A wait is an object: whoever parks, wakes or reports on an actor asks its wait, and compares no kinds."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from rsg_server.process.wait import ActorWait
from rsg_server.protocol import Wait
from tests.unit.rsg_server.fakes import fake

ROOT = Path(__file__).resolve().parents[2]
SERVER = sorted((ROOT / "rsg_server").rglob("*.py"))
OTHERS = [path for path in SERVER if path.parent != ROOT / "rsg_server/waits"]
KIND = re.compile(r"\bWAIT_[A-Z]+\b|\bWait\.[A-Z_]+\b|\.wait\b|\bparked\.[abc]\b")
"""The number of a kind of wait, or a field that has one."""
NARROWS = {
    "rsg_server/cgroups/news.py": {"DescriptorWait"},
    "rsg_server/rsg/room.py": {"OperationWait"},
    "rsg_server/turn/wakeups.py": {"DescriptorWait"},
}
"""Files that own what one kind of wait is for, and therefore look whether a wait is of this kind."""


def comparisons(source: str) -> list[str]:
    """The comparisons of kinds of waits in a module, and matches on them, as `line: text`."""
    tree = ast.parse(source)
    compared = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    compared += [node for node in ast.walk(tree) if isinstance(node, ast.MatchValue)]
    return [f"{node.lineno}: {text}" for node in compared if KIND.search(text := ast.unparse(node))]


def test_nobody_but_the_waits_compares_kinds() -> None:
    assert {path: found for path in OTHERS if (found := comparisons(path.read_text()))} == {}


@pytest.mark.parametrize(
    "text",
    ["parked.wait == WAIT_FD", "kind in (WAIT_FD, other)", "actor.parked.wait != kind", "Wait.SIGNAL == kind", "0 < parked.c"],
)
def test_a_comparison_is_found(text: str) -> None:
    assert comparisons(f"if {text}:\n    pass\n") == [f"1: {text}"]


def test_only_the_owner_of_a_kind_looks_whether_a_wait_is_of_it() -> None:
    looked_for = {
        str(path.relative_to(ROOT)): set(re.findall(r"isinstance\([^()]*, \(?(\w+Wait)\b", path.read_text())) for path in OTHERS
    }
    assert {path: kinds for path, kinds in looked_for.items() if kinds} == NARROWS


def test_no_field_is_packed_but_in_the_class_that_unpacks_it() -> None:
    found = [str(path.relative_to(ROOT)) for path in SERVER if re.search(r"\bc >> ", path.read_text())]
    assert found == ["rsg_server/waits/descriptors.py"]


def test_every_kind_has_a_class_of_its_own() -> None:
    with fake() as world:
        made = {kind: type(world.kernel.waits.make(int(kind), 0, -1, 0, 0, 0, 0, 0)) for kind in Wait if kind is not Wait.RSG}
    assert len(set(made.values())) == len(made)
    assert all(issubclass(made_of, ActorWait) and made_of is not ActorWait for made_of in made.values())
