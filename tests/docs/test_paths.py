"""Every file that the internals and CONTRIBUTING name exists; `path: function` means that the file has the name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, name_of

PAGES = (ROOT / "CONTRIBUTING.md", *sorted((DOCS / "internals").glob("*.md")))
TOPS = ("csrc", "rsg_server", "simunix", "simunix_bench", "tests", "docs", "scenarios", "benchmarks", ".ci")
SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(rf"^(?P<path>(?:{'|'.join(map(re.escape, TOPS))})/[\w./*-]*)(?:: (?P<names>[\w., ()]+))?$")
FILE = re.compile(r"^(?P<file>[\w-]+\.(?:py|c|h|def|S|yaml|tests))(?:: (?P<names>[\w., ()]+))?$")
BUILT = ("simunix/lib/libsimunix.so", "rsg_server/_compiled.*.so")
"""What the build makes; where nothing can be compiled, the server is interpreted."""
EXAMPLES = ("rjms/oar",)
"""Parts of paths that stand for something that a contributor would write."""


def files() -> dict[str, list[Path]]:
    """All files of the rooms, by name."""
    found: dict[str, list[Path]] = {}
    for top in TOPS:
        for path in (ROOT / top).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                found.setdefault(path.name, []).append(path)
    return found


def lost_names(candidates: list[Path], names: str | None) -> list[str]:
    """The identifiers that none of the files has."""
    text = "".join(path.read_text(errors="replace") for path in candidates if path.is_file())
    words = [word for name in (names or "").replace("()", "").split(", ") for word in name.split(".") if word]
    return [word for word in words if not re.search(rf"\b{re.escape(word)}\b", text)]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_named_files_and_functions_exist(page: Path) -> None:
    known = files()
    lost = []
    for span in dict.fromkeys(SPAN.findall(page.read_text())):
        if span in BUILT or any(example in span for example in EXAMPLES):
            continue
        if match := PATH.match(span):
            path = match["path"].rstrip("/")
            candidates = list(ROOT.glob(path)) if "*" in path else [ROOT / path] * (ROOT / path).exists()
        elif match := FILE.match(span):
            candidates = known.get(match["file"], [])
        else:
            continue
        if not candidates or lost_names(candidates, match["names"]):
            lost.append(span)
    assert not lost
