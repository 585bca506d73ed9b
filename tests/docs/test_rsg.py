"""The list of Remote SimGrid's calls is complete, and names nothing that is not there."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import simunix.rsg
from tests.docs.pages import DOCS, ROOT

PAGE = DOCS / "reference" / "rsg.md"
HEADERS = Path("/usr/include/simgrid")
ROW = re.compile(r"^\| (.*?) \| (.*?) \| (.*?) \| (.*?) ?\|$", re.MULTILINE)
ROWS = [row for row in ROW.findall(PAGE.read_text()) if row[0] not in ("S4U", "---")]


def names_in(column: int) -> set[str]:
    """What stands in a column between backquotes."""
    return {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[column])}


def names_of_module() -> set[str]:
    """Classes, their public members, and the functions of this_actor."""
    found = set()
    for name in simunix.rsg.__all__:
        of = getattr(simunix.rsg, name)
        if inspect.ismodule(of):
            found |= {f"{name}.{key}" for key, value in vars(of).items() if _is_of(value, of.__name__) and key[0] != "_"}
        else:
            found.add(name)
        if inspect.isclass(of) and not issubclass(of, BaseException):
            found |= {f"{name}.{key}" for key in dir(of) if key[0] != "_"}
    return found


def _is_of(value: object, module: str) -> bool:
    return inspect.isfunction(value) and value.__module__ == module


def test_python_column_is_what_the_module_has() -> None:
    assert names_in(1) == names_of_module()


def test_c_column_is_what_the_header_has() -> None:
    header = (ROOT / "csrc/rsg/rsg.h").read_text()
    assert names_in(2) == set(re.findall(r"\b(rsg_\w+)\(", header.partition("cffi: begin")[2]))


def test_what_is_not_there_has_words() -> None:
    assert not [row for row in ROWS if row[1] == row[2] == "–" and not row[3]]
    assert all(row[0] == "–" or "`" in row[0] for row in ROWS)


@pytest.mark.skipif(not HEADERS.exists(), reason="SimGrid's headers are not installed (Debian: libsimgrid-dev)")
def test_s4u_column_is_what_simgrid_has() -> None:
    text = "\n".join(path.read_text() for path in sorted(HEADERS.rglob("*.hpp")))
    words = set(re.findall(r"\w+", text))
    assert not names_in(0) - words
