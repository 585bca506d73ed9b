"""The functions by which tests say what they need, for root and for users: missing packages are named, daemons are
found, notices are left out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import needs
from tests.starts import without_notices


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


def test_only_the_notice_of_isolation_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = "simunix: in a user namespace every user of a host is you: setgroups …\n", "simunix: n1: exec failed\n"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert without_notices(own + other) == own + other
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert without_notices(own + other) == other == without_notices(f"simunix: no namespaces (no): hosts share\n{other}")
