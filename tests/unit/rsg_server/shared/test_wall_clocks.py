"""Wall clocks that are set, and that drift: what the word in the shared memory says on each host."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rsg_server.protocol import PAGE_FIELDS, QUANTUM_NS
from rsg_server.shared.wall_clocks import CALL_NS, WallClocks

NOW, REALTIME = PAGE_FIELDS["now_ns"], PAGE_FIELDS["realtime_ns"]
EPOCH, S = 10**18, 10**9


def made() -> tuple[WallClocks, memoryview]:
    """Wall clocks, and the words of the shared memory."""
    words = memoryview(bytearray(8 * 512)).cast("Q")
    words[REALTIME] = EPOCH
    return WallClocks(words, EPOCH), words


def ahead(clocks: WallClocks, words: memoryview, host: str, now_ns: int) -> int:
    """How far the clock of a host is seen to be ahead at a moment."""
    words[NOW] = now_ns
    clocks.show(host)
    return words[REALTIME] - EPOCH


def test_a_clock_drifts_from_its_moment_on_and_others_do_not() -> None:
    clocks, words = made()
    words[NOW] = 10 * S
    clocks.set_drift("a", 200)
    clocks.set_drift("b", -50)
    assert [ahead(clocks, words, "a", moment * S) for moment in (10, 11, 20)] == [0, 200_000, 2_000_000]
    assert [ahead(clocks, words, "b", moment * S) for moment in (10, 11, 20)] == [0, -50_000, -500_000]
    assert ahead(clocks, words, "c", 30 * S) == 0 and clocks.shown_epoch_ns == EPOCH


def test_another_rate_goes_on_from_where_the_clock_is_and_none_sets_it_right() -> None:
    clocks, words = made()
    clocks.set("a", -S)
    clocks.set_drift("a", 1000)
    assert ahead(clocks, words, "a", 10 * S) == -S + 10_000_000
    clocks.set_drift("a", -1000)
    assert ahead(clocks, words, "a", 15 * S) == -S + 5_000_000
    clocks.set_drift("a", 0)
    assert ahead(clocks, words, "a", 16 * S) == -S and clocks.drift_ppm("a") == 0


def test_a_clock_that_is_set_drifts_from_there() -> None:
    clocks, words = made()
    clocks.set_drift("a", 1000)
    words[NOW] = 10 * S
    clocks.set("a", 3 * S)
    assert ahead(clocks, words, "a", 10 * S) == 3 * S
    assert ahead(clocks, words, "a", 12 * S) == 3 * S + 2_000_000
    assert (clocks.ahead_ns("a"), clocks.drift_ppm("a")) == (3 * S, 1000)


TURNS = st.lists(st.tuples(st.integers(0, QUANTUM_NS), st.one_of(st.just(0), st.integers(0, 20 * S))), min_size=1, max_size=30)


@given(TURNS, st.floats(-10_000, 10_000))
def test_a_clock_never_goes_back_by_drift_and_is_right_after_a_pause(turns: list[tuple[int, int]], ppm: float) -> None:
    clocks, words = made()
    clocks.set_drift("a", ppm)
    now_ns, seen_ns = 0, 0
    for lasts_ns, pause_ns in turns:
        shown_ns = now_ns + ahead(clocks, words, "a", now_ns)
        assert shown_ns >= seen_ns
        seen_ns = shown_ns + lasts_ns
        now_ns += lasts_ns + pause_ns + 2 * CALL_NS  # the price of the call that ends the turn
    now_ns += 100 * S
    assert abs(ahead(clocks, words, "a", now_ns) - now_ns * ppm / 1e6) <= 1
