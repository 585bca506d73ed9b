"""The content of a disk when power is cut, and which unsynced changes survive a power cut."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.choices.places import LOSE, LOST
from rsg_server.choices.source import Choices
from rsg_server.protocol import Storage
from rsg_server.storage.survivors import PAGE_BYTES, SECTOR_BYTES, Survivors, survived
from rsg_server.storage.unsynced import JOURNAL_NS, Unsynced, key_of

SECOND_NS = 10**9


class Listed:
    """A strategy that takes what is listed, then 0."""

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.asked: list[int] = []

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        assert place == LOSE and not actors
        self.asked.append(alternatives)
        return self.taken.pop(0) if self.taken else 0


class Computer:
    """A host with a disk, whose files are in a folder, and what its programs do to them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now_ns = folder, 0
        self.listed = Listed()
        self.choices = Choices(self.listed, frozenset({LOSE}))
        self.choices.now_ns = lambda: self.now_ns
        self.unsynced = Unsynced(lambda: self.now_ns)
        self.unsynced.keep("a", 0, "disk", folder)
        self._survivors = Survivors(self.choices, self.unsynced)

    def _tell(self, what: Storage, path: Path, size: int = 0) -> None:
        self.unsynced.told("a", 0, what, key_of(path.stat()), size, None)

    def write(self, name: str, text: bytes, offset: int = 0) -> None:
        path = self.folder / name
        is_new = not path.exists()
        descriptor = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
        os.pwrite(descriptor, text, offset)
        os.close(descriptor)
        if is_new:
            self._tell(Storage.CUT, path)
        self._tell(Storage.LOOK, path)

    def empty(self, name: str) -> None:
        os.truncate(self.folder / name, 0)
        self._tell(Storage.CUT, self.folder / name)
        self._tell(Storage.CHANGE, self.folder)

    def sync(self, name: str) -> None:
        path = self.folder / name
        if path.is_file():
            ended: list[int] = []
            self.unsynced.after("a", 0, key_of(path.stat()), [(0, 1 << 40)], ended.append)(0)
            assert ended == [0]
        self._tell(Storage.SYNC, path)

    def change(self, function: Callable[..., object], *names: str) -> None:
        function(*(self.folder / name for name in names))
        self._tell(Storage.CHANGE, self.folder)

    def cut(self, *taken: int) -> dict[str, bytes]:
        """Cut the power; returns what is there afterwards."""
        self.listed.taken, self.listed.asked = list(taken), []
        self._survivors.power_cut("a")
        paths = [path for path in self.folder.rglob("*") if not path.is_symlink() and path.is_file()]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}


@pytest.fixture
def computer(tmp_path: Path) -> Computer:
    (tmp_path / "srv").mkdir()
    (tmp_path / "srv/old").write_bytes(b"old" * 500)
    return Computer(tmp_path / "srv")


def test_alternative_0_loses_nothing(computer: Computer) -> None:
    computer.write("new", b"x" * 2000)
    inode = (computer.folder / "new").stat().st_ino
    assert computer.cut() == {"old": b"old" * 500, "new": b"x" * 2000}
    assert (computer.folder / "new").stat().st_ino == inode and computer.listed.asked == [2, LOST]
    assert computer.choices.taken == []


def test_what_is_synced_stays(computer: Computer) -> None:
    computer.write("new", b"x" * 2000)
    computer.sync("new")
    computer.sync("")
    assert computer.cut(1, 1) == {"old": b"old" * 500, "new": b"x" * 2000}
    assert computer.listed.asked == []


def test_a_synced_file_may_lose_its_name_until_its_folder_is_synced(computer: Computer) -> None:
    computer.write("new", b"x" * 2000)
    computer.sync("new")
    assert computer.cut(1) == {"old": b"old" * 500}
    assert computer.choices.taken[0].what == "the power cut of a loses the last change of a name on its disk disk: no new"


def test_names_are_on_the_disk_after_five_seconds_and_their_content_is_not(computer: Computer) -> None:
    computer.write("new", b"x" * 2000)
    computer.now_ns += JOURNAL_NS
    assert computer.cut(1) == {"old": b"old" * 500, "new": b""}
    assert computer.choices.taken[0].what == (
        "the power cut of a loses bytes 0-511, 512-1023, 1024-1535, 1536-2047 of new on its disk disk"
    )


def test_a_rename_is_whole_or_not_at_all(computer: Computer) -> None:
    computer.write("new", b"x" * 2000)
    computer.sync("new")
    computer.sync("")
    computer.change(os.rename, "new", "old")
    assert computer.cut(1) == {"old": b"old" * 500, "new": b"x" * 2000}
    computer.change(os.rename, "new", "old")
    assert computer.cut(0) == {"old": b"x" * 2000}


def test_a_rename_may_come_without_the_content(computer: Computer) -> None:
    computer.write("new", b"x" * 2000)
    computer.change(os.rename, "new", "old")
    assert computer.cut(0, 1) == {"old": b""}


def test_changes_of_names_are_lost_from_the_last_one_on(computer: Computer) -> None:
    computer.change(os.mkdir, "folder")
    computer.write("folder/file", b"x")
    computer.change(lambda path: os.symlink("file", path), "folder/link")
    computer.change(os.rename, "folder", "other")
    assert computer.cut(2) == {"old": b"old" * 500, "folder/file": b"x"}
    assert not (computer.folder / "folder/link").is_symlink()


def test_a_removed_file_is_there_again_with_what_was_on_the_disk(computer: Computer) -> None:
    computer.write("old", b"new")
    computer.change(os.link, "old", "second")
    computer.change(os.unlink, "second")
    computer._tell(Storage.CUT, computer.folder / "old")
    computer.change(os.unlink, "old")
    assert computer.cut(1) == {"old": b"old" * 500}


def test_an_emptied_file_has_its_old_content_unless_it_is_synced(computer: Computer) -> None:
    computer.empty("old")
    computer.write("old", b"new")
    assert computer.cut(1) == {"old": b"old" * 500}
    computer.empty("old")
    computer.write("old", b"new")
    assert computer.cut(0, 1) == {"old": b""}
    computer.write("old", b"newer")
    computer.sync("old")
    computer.empty("old")
    computer.write("old", b"newest")
    computer.sync("old")
    assert computer.cut(1) == {"old": b"newest"}


def test_sync_and_a_shutdown_bring_all_to_the_disk(computer: Computer) -> None:
    computer.write("new", b"x" * 20)
    computer.unsynced.unmounted("a")
    assert computer.cut(1, 1) == {"old": b"old" * 500, "new": b"x" * 20}


def test_a_second_cut_finds_all_on_the_disk_that_the_first_has_left(computer: Computer) -> None:
    computer.write("old", b"new", 1500)
    assert computer.cut(1) == {"old": b"old" * 500}
    assert computer.cut(1) == {"old": b"old" * 500} and computer.listed.asked == []


@given(st.binary(max_size=9000), st.binary(max_size=9000), st.integers(1, LOST - 1))
def test_each_block_is_new_or_as_before(disk: bytes, end: bytes, taken: int) -> None:
    now = bytes(byte ^ 255 if number % 3000 < 1500 else byte for number, byte in enumerate(disk)) + end
    if now == disk:
        return
    text, lost, size = survived(now, disk, taken)
    assert size in (SECTOR_BYTES, PAGE_BYTES) and lost and len(disk) <= len(text) <= len(now)
    for first in range(0, len(now), size):
        piece = text[first : first + size]
        old = disk[first : first + size].ljust(len(piece), b"\0")
        assert piece == (old if first // size in lost else now[first : first + size][: len(piece)])


def test_a_choice_is_known_by_its_moment_and_its_file(computer: Computer) -> None:
    computer.now_ns = SECOND_NS
    computer.write("old", b"new")
    computer.cut(1)
    computer.write("old", b"new")
    computer.write("another", b"text")
    computer.sync("another")
    computer.cut(0, 1)
    first, second = computer.choices.taken
    assert first.number != second.number and first.number >> 16 == second.number >> 16
    assert computer.choices.count == 0
