"""The page cache of a host, and dirty pages on their way to its disks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.clock.timeline import Timeline
from rsg_server.storage.pages import FAR, PAGE_BYTES, PageCache, Pages
from rsg_server.storage.writeback import EXPIRE_NS, PIECE_PAGES, Writeback, count_pages

NS = 10**9
ranges = st.tuples(st.integers(0, 30), st.integers(0, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "take", "among"]), ranges), max_size=30), st.integers(0, 20))
def test_pages_are_a_set(steps: list[tuple[str, tuple[int, int]]], most: int) -> None:
    pages, model = Pages(), set[int]()
    for what, (first, end) in steps:
        wanted = set(range(first, end))
        if what == "add":
            assert pages.add(first, end) == len(wanted - model)
            model |= wanted
        elif what == "remove":
            assert pages.remove(first, end) == len(wanted & model)
            model -= wanted
        elif what == "take":
            taken = pages.take_within(first, end)
            assert {page for low, high in taken for page in range(low, high)} == wanted & model
            assert all(low < high for low, high in taken)
            model -= wanted
        else:
            assert pages.among(first, end) == len(wanted & model)
            missing = {page for low, high in pages.missing(first, end) for page in range(low, high)}
            assert missing == wanted - model
        assert pages.count == len(model)
    assert count_pages(pages.take(most)) == min(most, len(model))
    left = sorted(model)[most:]
    assert [page for page in range(60) if pages.among(page, page + 1)] == left


def test_what_was_read_or_written_is_there() -> None:
    cache = PageCache(100 * PAGE_BYTES)
    assert cache.read(1, 0, 0, 10) == [(0, 10)]
    assert cache.read(1, 0, 5, 15) == [(10, 15)]
    assert cache.write(1, 0, 12, 20, 0) == 8
    assert cache.read(1, 0, 0, 20) == []
    assert cache.read(2, 0, 0, 20) == [(0, 20)]
    assert cache.count == 40


def test_clean_pages_of_the_file_that_was_used_least_recently_go_first() -> None:
    cache = PageCache(30 * PAGE_BYTES)
    cache.read(1, 0, 0, 10)
    cache.write(2, 0, 0, 10, 0)
    cache.read(3, 0, 0, 10)
    cache.read(1, 0, 0, 1)
    assert cache.read(4, 0, 0, 5) == [(0, 5)]
    assert [cache.read(key, 0, 0, 10) for key in (1, 2)] == [[], []], "the second is dirty"
    assert cache.find(3) is None


def test_a_file_that_is_larger_than_memory_is_read_again() -> None:
    cache = PageCache(10 * PAGE_BYTES)
    for _ in range(2):
        assert cache.read(1, 0, 0, 8) == [(0, 8)]
        assert cache.read(1, 0, 8, 16) == [(8, 16)]


def test_clean_pages_that_are_not_wanted_any_longer_go_and_dirty_ones_stay() -> None:
    cache = PageCache(100 * PAGE_BYTES)
    cache.read(1, 0, 0, 20)
    cache.write(1, 0, 5, 8, 0)
    cache.forget(1, 2, 10)
    cache.forget(2, 0, FAR)
    assert cache.count == 15
    assert cache.read(1, 0, 0, 20) == [(2, 5), (8, 10)]


class World:
    """A host with disks that write a page in a second, one operation after the other."""

    def __init__(self, memory_pages: int) -> None:
        self.now_ns = 0
        self.timeline = Timeline()
        self.written: list[tuple[int, int]] = []
        self.free_ns: dict[int, int] = {}
        self.error = 0
        self.writeback = Writeback(self, memory_pages * PAGE_BYTES)

    def at(self, moment_ns: int, action: Callable[[], object]) -> object:
        return self.timeline.add(moment_ns, lambda: (action(), None)[1])

    def write(self, disk: int, file: int, ranges: list[tuple[int, int]], done: Callable[[int], object]) -> None:
        pages = count_pages(ranges)
        assert pages > 0
        self.free_ns[disk] = max(self.now_ns, self.free_ns.get(disk, 0)) + pages * NS
        self.written.append((self.now_ns // NS, pages))
        self.at(self.free_ns[disk], lambda: done(self.error))

    def run_until(self, second: int) -> None:
        while (due := self.timeline.next_ns) is not None and due <= second * NS:
            self.now_ns = due
            self.timeline.run_due(due)
        self.now_ns = second * NS

    def when(self, wait: Callable[[Callable[[], object]], None]) -> list[int]:
        """A list that gets the second at which a wait ends."""
        ended: list[int] = []
        wait(lambda: ended.append(self.now_ns // NS))
        return ended


def test_writing_takes_no_time_and_fsync_what_is_dirty() -> None:
    world = World(1000)
    assert not world.writeback.wrote(1, 0, 0, 20)
    assert not world.writeback.wrote(2, 0, 0, 30)
    ended = world.when(lambda done: world.writeback.sync(1, 0, done))
    world.run_until(25)
    assert (ended, world.written, world.writeback.dirty) == ([20], [(0, 20)], 30)
    assert not world.writeback.is_dirty(1, 0) and world.writeback.is_dirty(2, 0)


def test_what_is_dirty_for_thirty_seconds_is_written_at_the_next_look() -> None:
    world = World(1000)
    world.run_until(3)
    world.writeback.wrote(1, 0, 0, 2)
    world.run_until(12)
    world.writeback.wrote(1, 0, 1, 4)
    world.run_until(34)
    assert world.written == []
    world.run_until(40)
    assert world.written == [(35, 4)]
    assert world.writeback.dirty == 0


def test_the_flusher_begins_at_a_tenth_and_writers_wait_at_a_fifth() -> None:
    world = World(100)
    assert not world.writeback.wrote(1, 0, 0, 10)
    assert world.written == []
    assert not world.writeback.wrote(1, 0, 10, 15)
    assert world.written == [(0, 15)]
    assert world.writeback.wrote(2, 0, 0, 10), "15 are on their way"
    ended = world.when(world.writeback.wait_for_room)
    world.run_until(14)
    assert ended == []
    world.run_until(15)
    assert (ended, world.writeback.dirty) == ([15], 10)


def test_a_large_file_is_written_in_pieces() -> None:
    world = World(20 * PIECE_PAGES)
    world.writeback.wrote(1, 0, 0, 2 * PIECE_PAGES + 1)
    assert world.written == [(0, PIECE_PAGES)]
    world.run_until(10 * PIECE_PAGES)
    assert world.written == [(0, PIECE_PAGES), (PIECE_PAGES, PIECE_PAGES), (2 * PIECE_PAGES, 1)]


def test_fsync_waits_for_the_piece_that_the_flusher_is_at() -> None:
    world = World(100)
    world.writeback.wrote(1, 0, 0, 12)
    world.run_until(2)
    world.writeback.wrote(1, 0, 0, 3)
    ended = world.when(lambda done: world.writeback.sync(1, 0, done))
    world.run_until(100)
    assert (ended, world.writeback.dirty) == ([15], 0)


def test_a_range_is_written_and_the_rest_stays_dirty() -> None:
    """As msync(2) wants it."""
    world = World(200)
    world.writeback.wrote(1, 0, 0, 10)
    assert world.when(lambda done: world.writeback.sync(1, 0, done, 4, 6)) == []
    world.run_until(2)
    assert (world.written, world.writeback.dirty) == ([(0, 2)], 8)
    assert not world.writeback.is_dirty(1, 0, 4, 6)
    assert world.writeback.is_dirty(1, 0, 3, 6)
    assert world.writeback.dirtied == 10
    world.writeback.wrote_through(1, 0, 4, 8)
    assert world.writeback.dirtied == 12, "two of these were dirty before"


def test_sync_writes_all_files_of_a_disk() -> None:
    world = World(1000)
    for file in (1, 2, 3):
        world.writeback.wrote(file, 0, 0, file)
    world.writeback.wrote(4, 1, 0, 50)
    ended = world.when(lambda done: world.writeback.sync_all([0], done))
    world.run_until(10)
    assert (ended, world.written, world.writeback.dirty) == ([6], [(0, 1), (1, 2), (3, 3)], 50)
    assert not world.writeback.has_dirty(0) and world.writeback.has_dirty(1)
    again = world.when(lambda done: world.writeback.sync_all([0], done))
    world.run_until(10)
    assert again == [10]


def test_what_is_removed_while_dirty_is_never_written() -> None:
    world = World(100)
    world.writeback.wrote(1, 0, 0, 9)
    world.writeback.cut(1, 4)
    assert world.writeback.dirty == 4
    world.writeback.cut(1, 0)
    assert world.writeback.cache.count == world.writeback.dirty == 0
    world.run_until(EXPIRE_NS // NS + 10)
    assert world.written == []
    assert world.writeback.cache.read(1, 0, 0, 9) == [(0, 9)], "a new file of that number has no pages"


def test_what_was_written_through_is_not_dirty() -> None:
    world = World(100)
    world.writeback.wrote(1, 0, 0, 9)
    world.writeback.wrote_through(1, 0, 2, 12)
    assert world.writeback.dirty == 2
    assert world.writeback.cache.read(1, 0, 0, 12) == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["write", "sync", "cut", "through", "all", "pass"]), st.integers(1, 3), ranges, st.integers(0, 9)
        ),
        max_size=25,
    )
)
def test_the_count_of_what_is_dirty_is_right(steps: list[tuple[str, int, tuple[int, int], int]]) -> None:
    world, ended = World(200), 0
    started = 0

    def end() -> None:
        nonlocal ended
        ended += 1

    for what, file, (first, last), seconds in steps:
        if what == "write":
            world.writeback.wrote(file, file % 2, first, last)
        elif what == "through":
            world.writeback.wrote_through(file, file % 2, first, last)
        elif what == "cut":
            world.writeback.cut(file, first)
        elif what == "sync":
            started += 1
            world.writeback.sync(file, file % 2, end)
        elif what == "all":
            started += 1
            world.writeback.sync_all([file % 2], end)
        world.run_until(world.now_ns // NS + seconds)
        assert world.writeback.dirty >= 0
    world.run_until(100_000)
    assert (world.writeback.dirty, ended) == (0, started)
    assert not world.writeback.has_dirty(0) and not world.writeback.has_dirty(1)
    assert all(world.writeback.cache.cut(file, 0) == 0 for file in (1, 2, 3)) and world.writeback.cache.count == 0


def test_the_last_page_is_far_away() -> None:
    assert FAR * PAGE_BYTES > 1 << 63


@pytest.mark.parametrize("empty", [(5, 5), (0, 0)])
def test_nothing_is_nothing(empty: tuple[int, int]) -> None:
    pages = Pages()
    pages.add(3, 8)
    assert (pages.add(*empty), pages.remove(*empty), pages.among(*empty), pages.count) == (0, 0, 0, 5)


def test_a_second_fsync_waits_for_what_the_first_one_is_writing() -> None:
    world = World(1000)
    world.writeback.wrote(1, 0, 0, 20)
    first = world.when(lambda done: world.writeback.sync(1, 0, done))
    world.run_until(5)
    assert world.writeback.is_dirty(1, 0) and world.writeback.has_dirty(0)
    assert world.writeback.is_dirty(1, 0, 19, 30) and not world.writeback.is_dirty(1, 0, 20, 30)
    second = world.when(lambda done: world.writeback.sync(1, 0, done))
    everything = world.when(lambda done: world.writeback.sync_all([0], done))
    world.run_until(30)
    assert (first, second, everything) == ([20], [20], [20])
    assert world.written == [(0, 20)]
    assert not world.writeback.is_dirty(1, 0) and not world.writeback.has_dirty(0)


def test_sync_has_all_disks_write_at_a_time() -> None:
    world = World(1000)
    world.writeback.wrote(1, 0, 0, 20)
    world.writeback.wrote(2, 1, 0, 30)
    world.writeback.wrote(3, 1, 0, 5)
    assert world.writeback.dirty_disks() == [0, 1]
    ended = world.when(lambda done: world.writeback.sync_all(world.writeback.dirty_disks(), done))
    world.run_until(40)
    assert ended == [35]
    assert world.writeback.dirty_disks() == []
