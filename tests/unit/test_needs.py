"""What tests need: a missing package is named, and a daemon is found that a user's PATH leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import needs


@pytest.fixture
def daemons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of daemons, which is not in PATH."""
    monkeypatch.setattr(needs, "FOLDERS", (str(tmp_path / "sbin"),))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "sbin").mkdir()
    return tmp_path / "sbin"


def test_missing_packages_are_named_once(daemons: Path) -> None:
    assert needs.why_not("mpicc.mpich", "mpiexec.mpich", "curl").startswith("not installed: curl mpich (SIMUNIX_PROGRAMS=1")
    with pytest.raises(pytest.skip.Exception, match="not installed: curl"):
        needs.require("curl")


def test_a_daemon_is_found_without_its_folder_in_path(daemons: Path) -> None:
    (daemons / "slurmdbd").touch(mode=0o755)
    assert needs.found("slurmdbd") == str(daemons / "slurmdbd")
    assert needs.why_not("slurmdbd") == ""
    needs.require("slurmdbd")
