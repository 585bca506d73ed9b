"""Logs of a host that the live page shows: only files of that host, in pieces."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix.view.logs import LOGS_MOST, PIECE_BYTES, logs_of, read_log


@pytest.fixture
def host(tmp_path: Path) -> Path:
    logs = tmp_path / "n1/files/var_log_slurm/deep"
    logs.mkdir(parents=True)
    (logs.parent / "slurmd.log").write_text("one\n")
    (logs / "old.log").write_text("two\n")
    (tmp_path / "n1/job.out").write_text("three\n")
    (tmp_path / "n1/job.err").write_text("")
    (tmp_path / "n1/hostname").write_text("n1")
    (tmp_path / "secret").write_text("secret")
    return tmp_path / "n1"


def test_what_is_printed_and_what_is_below_var_log(host: Path) -> None:
    assert logs_of(host) == ["files/var_log_slurm/deep/old.log", "files/var_log_slurm/slurmd.log", "job.out"]
    assert logs_of(host.parent / "n2") == []


def test_links_that_programs_of_the_host_have_made_are_not_followed(host: Path) -> None:
    (host / "files/var_log_slurm/link.log").symlink_to(host.parent / "secret")
    (host / "files/var_log_slurm/folder").symlink_to(host.parent)
    assert not [name for name in logs_of(host) if "link" in name or "secret" in name]
    with pytest.raises(OSError, match="symbolic links"):
        read_log(host / "files/var_log_slurm/link.log", 0)


def test_a_log_is_read_on_from_where_it_was_left(host: Path) -> None:
    path = host / "job.out"
    assert read_log(path, None) == {"text": "three\n", "next": 6}
    path.write_text("three\nfour\n")
    assert read_log(path, 6) == {"text": "four\n", "next": 11}
    assert read_log(path, 11) == {"text": "", "next": 11}
    path.write_text("anew")
    assert read_log(path, 11) == {"text": "anew", "next": 4}
    path.write_text("x" * (PIECE_BYTES + 5))
    assert read_log(path, None)["next"] == PIECE_BYTES + 5 and len(read_log(path, None)["text"]) == PIECE_BYTES


def test_the_list_is_bounded(host: Path) -> None:
    for number in range(LOGS_MOST + 5):
        (host / f"{number}.out").write_text("x")
    assert len(logs_of(host)) == LOGS_MOST
