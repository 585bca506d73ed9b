"""Every link of the documentation leads somewhere, with its anchor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import PAGES, anchors_of, links_of, name_of


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_anchors_exist(page: Path) -> None:
    lost = []
    for target in links_of(page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists():
            lost.append(target)
        elif anchor and there.suffix == ".md" and anchor not in anchors_of(there):
            lost.append(f"{target}; there are {', '.join(sorted(anchors_of(there)))}")
    assert not lost
