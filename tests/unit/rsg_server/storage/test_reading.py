"""Which pages of a file are read, which are read ahead, and which programs wait for them."""

from __future__ import annotations

from rsg_server.storage.counts import IoCounts
from rsg_server.storage.pages import PAGE_BYTES, PageCache
from rsg_server.storage.reading import Ended, Ranges, Reader

FILE, DISK, LAST = 7, 0, 1000


class World:
    """A cache and a disk that reads when it is told to."""

    def __init__(self) -> None:
        self.cache = PageCache(10_000 * PAGE_BYTES)
        self.counts = IoCounts()
        self.reader = Reader(self, self.cache, self.counts)
        self.asked: list[Ranges] = []
        self.left: list[Ended] = []
        self.ended: list[int] = []

    def read(self, disk: int, file: int, pages: Ranges, done: Ended) -> None:
        assert (disk, file) == (DISK, FILE)
        self.asked.append(pages)
        self.left.append(done)

    def reads(self, first: int, end: int, last: int = LAST) -> bool:
        """A program reads pages; returns whether it has to wait."""
        wait = self.reader.read(FILE, DISK, first, end, last)
        if wait is not None:
            wait(self.ended.append)
        return wait is not None

    def finish(self, error: int = 0) -> None:
        """The disk has done what it was asked first."""
        self.left.pop(0)(error)


def test_small_reads_in_a_row_wait_once_and_windows_grow() -> None:
    world = World()
    assert world.reads(0, 1)
    assert world.asked == [[(0, 4)]]
    world.finish()
    assert world.ended == [0]
    for page in range(1, 4):
        assert not world.reads(page, page + 1)
    assert world.asked == [[(0, 4)], [(4, 12)]]
    assert world.reads(4, 5), "its pages are on their way"
    assert world.asked[2:] == [[(12, 28)]], "and the next window as well"
    world.finish()
    assert world.ended == [0, 0]


def test_large_reads_have_the_next_window_read_meanwhile() -> None:
    world = World()
    assert world.reads(0, 32)
    assert world.asked == [[(0, 32)]]
    world.finish()
    assert world.asked == [[(0, 32)], [(32, 64)]]
    assert world.reads(32, 64)
    assert world.asked[2:] == [[(64, 96)]]
    world.finish()
    assert world.ended == [0, 0]


def test_nothing_is_read_behind_the_end_of_the_file() -> None:
    world = World()
    assert world.reads(0, 1, last=2)
    assert world.asked == [[(0, 2)]]
    world.finish()
    assert not world.reads(1, 2, last=2)
    assert not world.left


def test_reads_here_and_there_read_what_they_want() -> None:
    world = World()
    assert world.reads(500, 501)
    assert world.reads(100, 102)
    assert world.asked == [[(500, 501)], [(100, 102)]]


def test_two_that_read_the_same_pages_wait_for_one_operation() -> None:
    world = World()
    assert world.reads(500, 501) and world.reads(500, 501)
    assert world.asked == [[(500, 501)]]
    world.finish()
    assert world.ended == [0, 0]
    assert not world.reads(500, 501)


def test_what_could_not_be_read_is_not_there() -> None:
    world = World()
    assert world.reads(0, 1)
    world.finish(error=5)
    assert world.ended == [5]
    assert world.reads(0, 1)


def test_what_is_read_for_later_is_waited_for_by_who_wants_it() -> None:
    """MADV_WILLNEED of madvise(2); all that is read counts for the process."""
    world = World()
    world.reader.ahead(FILE, DISK, 100, 200)
    world.reader.ahead(FILE, DISK, 100, 200)
    assert world.asked == [[(100, 200)]]
    assert world.reads(150, 151), "it is on its way"
    world.finish()
    assert world.ended == [0]
    assert not world.reads(199, 200)
    assert world.counts.read_bytes == 100 * PAGE_BYTES
