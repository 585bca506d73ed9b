"""A result is there whole, or as it was before; what is no plain file is never replaced by one."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from rsg_server.errors import ServerError, described
from rsg_server.whole_files import unwritten, whole_file, whole_path, write_whole


def test_a_file_gets_its_name_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("before")
    target.chmod(0o640)
    with whole_file(target) as file:
        file.write("after")
        assert target.read_text() == "before"
    assert target.read_text() == "after" and stat.S_IMODE(target.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["page.html"]


def test_what_goes_wrong_leaves_the_older_file(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("before")
    said = r"page\.html cannot be written: No space left on device; free some space, or"
    with pytest.raises(ServerError, match=said), whole_file(target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert target.read_text() == "before" and os.listdir(tmp_path) == ["page.html"]


def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "words")
    assert os.read(reader, 10) == b"words" and stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    write_whole(link, "words")
    assert link.is_symlink() and stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_link_keeps_leading_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("before")
    (tmp_path / "link").symlink_to("real")
    with whole_path(tmp_path / "link") as draft:
        draft.write_text("after")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "after"


@pytest.mark.parametrize(
    ("number", "mend"),
    [
        (errno.ENOSPC, "free some space, or choose another name"),
        (errno.EDQUOT, "free some of your quota, or choose another name"),
        (errno.EFBIG, "raise the limit of a file's size (ulimit -f)"),
        (errno.EACCES, "choose another name"),
    ],
)
def test_the_mend_is_that_of_the_reason(number: int, mend: str) -> None:
    error = OSError(number, os.strerror(number))
    assert unwritten(Path("jobs.swf"), error) == f"jobs.swf: {os.strerror(number)}; {mend}"
    assert number == errno.EACCES or mend.replace("name", "folder") in described(error)
