"""Runs of many actors have one digest, whichever way their operations take."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.endurance.rsg_runs import SPACE_KIB, digest


@pytest.mark.slow
def test_sixty_actors_have_one_digest_with_boxes_and_without(tmp_path: Path) -> None:
    assert len({digest(tmp_path, way) for way in SPACE_KIB for _ in range(3)}) == 1
