"""The sources contain no marks of unfinished work."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORDS = re.compile("|".join(["TO" + "DO", "FIX" + "ME", r"\b" + "X" * 3 + r"\b", "NotImplemented" + "Error"]))


def test_no_leftovers() -> None:
    for folder in ("csrc", "rsg_server", "simunix", "tests", "scenarios"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".c", ".h", ".S", ".def", ".yaml"):
                assert not WORDS.search(path.read_text()), path
