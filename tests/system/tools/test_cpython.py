"""CPython's own tests give the same verdicts under simunix, but for the differences that are listed with their reasons."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.cpython import FIRST
from tests.conformance.known import Known, differences, outdated
from tests.conformance.runner import missing, run_files

LIMIT_S = 400.0


@pytest.mark.slow
def test_first_set(tmp_path: Path) -> None:
    """One command with all of them, as a user would type it, without simunix and with it."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    known = Known.read()
    native = run_files(FIRST, False, LIMIT_S, known, tmp_path / "native.log")
    emulated = run_files(FIRST, True, LIMIT_S, known, tmp_path / "emulated.log")
    assert len(native.verdicts) > 1000, (tmp_path / "native.log").read_text(errors="replace")[-2000:]
    found = differences(native.verdicts, emulated.verdicts, known)
    assert [str(one) for one in found if not one.why] == [], f"emulated: {emulated.ended} after {emulated.wall_s:.0f} s"
    assert outdated(found, set(FIRST), known) == [], "these differ no more: take them from tests/conformance/known.yaml"
