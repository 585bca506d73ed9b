"""pytest inside pytest: the inner one prints the same wherever the outer one runs."""

from __future__ import annotations

import pytest

FOLLOWED_BY_PYTEST = ["CI", "BUILD_NUMBER", "PYTEST_ADDOPTS", "FORCE_COLOR", "NO_COLOR", "PY_COLORS"]


@pytest.fixture(autouse=True)
def _quiet_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a build server pytest prints its summary lines whole, coloured …: not what the guide shows."""
    for name in FOLLOWED_BY_PYTEST:
        monkeypatch.delenv(name, raising=False)
