"""A host's records of logins, as this computer's are, but empty."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from simunix.launch.factory.container import Bind
from simunix.launch.run_directory import RunDirectory
from simunix.launch.view import login_records


@pytest.fixture
def wtmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only record of this computer; btmp is missing."""
    record = tmp_path / "log/wtmp"
    record.parent.mkdir()
    record.write_text("somebody was here")
    record.chmod(0o664)
    monkeypatch.setattr(login_records, "RECORDS", (str(record), str(tmp_path / "log/btmp")))
    return record


def binds(tmp_path: Path, *private: str) -> tuple[Bind, ...]:
    with RunDirectory.create(tmp_path / "out") as directory:
        directory.host("a").mkdir(parents=True)
        return login_records.login_record_binds(directory, "a", private)


def test_empty_and_writable_by_the_same_people(wtmp: Path, tmp_path: Path) -> None:
    (bind,) = binds(tmp_path)
    assert (bind.target, bind.read_only, bind.source.read_bytes()) == (str(wtmp), False, b"")
    assert stat.S_IMODE(bind.source.stat().st_mode) == 0o664
    assert bind.source.stat().st_gid == wtmp.stat().st_gid


@pytest.mark.parametrize("code", [errno.EPERM, errno.EINVAL])
def test_those_who_cannot_give_files_away_keep_them(
    wtmp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "chown", refuse)
    assert [bind.target for bind in binds(tmp_path)] == [str(wtmp)]


def test_private_paths_have_their_own(wtmp: Path, tmp_path: Path) -> None:
    assert binds(tmp_path, str(wtmp.parent)) == ()
