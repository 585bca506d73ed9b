"""The canonical log: what is written, and what its digest tells apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server import event_log
from rsg_server.errors import ServerError
from rsg_server.event_log import EventLog

words = st.text(max_size=8) | st.text(alphabet='\udc80\udcff\n"\\\u2028é', max_size=4)
fields = st.dictionaries(st.sampled_from(["host", "port", "status"]), st.integers() | words | st.none(), max_size=3)
turns = st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 255))
entries = st.lists(turns | st.tuples(st.integers(0, 10**12), st.sampled_from(["listen", "connect"]), fields), max_size=12)
Entries = list[tuple[int, int, int] | tuple[int, str, dict[str, object]]]


def record(log: EventLog, what: Entries) -> str:
    for now, second, third in what:
        if isinstance(third, dict):
            log.event(now, str(second), **third)
        else:
            log.turn(now, int(second), third)
    return log.digest()


@given(entries, entries)
def test_equal_digests_mean_equal_runs(one: Entries, other: Entries) -> None:
    assert record(EventLog(None), one) == record(EventLog(None), one)
    assert (record(EventLog(None), one) == record(EventLog(None), other)) == (one == other)


@given(entries)
def test_the_order_and_each_turn_count(what: Entries) -> None:
    log = EventLog(None)
    digest = record(log, what)
    assert log.turns == sum(not isinstance(third, dict) for _, _, third in what)
    assert sum(log.counts.values()) == len(what) - log.turns
    if what != what[::-1]:
        assert record(EventLog(None), what[::-1]) != digest
    if what:
        assert record(EventLog(None), what[:-1]) != digest


@pytest.mark.parametrize("other", [(6, 2, 3), (5, 1, 3), (5, 2, 0)])
def test_moment_actor_and_reason_of_a_turn_all_count(other: tuple[int, int, int]) -> None:
    assert record(EventLog(None), [(5, 2, 3)]) != record(EventLog(None), [other])


def test_a_full_disk_is_told_once_in_one_line() -> None:
    log = EventLog(Path("/dev/full"))
    log.event(1, "a" * 100)
    with pytest.raises(ServerError, match="/dev/full: No space left on device; free some space"):
        log.flush()
    log.event(2, "b")
    log.close()


def test_asking_for_the_digest_does_not_change_it() -> None:
    asked, silent = EventLog(None), EventLog(None)
    for log in (asked, silent):
        for now in range(50):
            log.turn(now, 1, 0)
            if log is asked:
                assert log.digest() == log.digest()
    assert asked.digest() == silent.digest()


def test_when_the_buffer_is_hashed_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> str:
        log = EventLog(None)
        for now in range(300):
            log.turn(now, 7, 1)
        return log.digest()

    whole = run()
    monkeypatch.setattr(event_log, "_FLUSH_BYTES", 20)
    assert run() == whole


def test_the_file_does_not_change_the_digest(tmp_path: Path) -> None:
    what: Entries = [(1, 2, 0), (5, "listen", {"host": "a", "port": 80})]
    with_file = EventLog(tmp_path / "log")
    assert record(with_file, what) == record(EventLog(None), what)
    with_file.close()


def test_one_json_line_per_event_and_turns_only_on_request(tmp_path: Path) -> None:
    expected = {"t": 5, "event": "process_start", "host": "a\udcff\n", "argv": ["x", "y"]}
    for every_turn in (False, True):
        path = tmp_path / str(every_turn)
        log = EventLog(path, every_turn)
        log.turn(3, 9, 2)
        log.event(5, "process_start", host="a\udcff\n", argv=["x", "y"])
        log.flush()
        lines = [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]
        log.close()
        log.close()  # a second time: nothing
        assert lines == ([{"t": 3, "event": "turn", "actor": 9, "wake": 2}] if every_turn else []) + [expected]


def test_counts_by_kind() -> None:
    log = EventLog(None)
    for kind in ("listen", "connect", "listen"):
        log.event(0, kind)
    assert log.counts == {"listen": 2, "connect": 1}


def test_handoffs_count_once_however_often_they_are_told() -> None:
    def digest_of(*told: int) -> str:
        log = EventLog(None)
        for digest in told:
            log.handoffs(digest)
        return log.digest()

    assert digest_of(7) == digest_of(7, 7) == digest_of(0, 7, 7)
    assert len({digest_of(), digest_of(7), digest_of(8), digest_of(7, 8), digest_of(8, 7), digest_of(7, 8, 7)}) == 6
