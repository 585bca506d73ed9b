"""Which hosts are oversubscribed, and by which programs."""

from __future__ import annotations

from rsg_server.processor.overload import NS, WINDOW_NS, Overload


def with_executions(cores: int, *programs: str) -> tuple[Overload, list[str]]:
    told: list[str] = []
    overload = Overload("h", cores, told.append)
    for program in programs:
        overload.begin(program)
    return overload, told


def test_one_more_than_cores_for_a_window_is_told_once() -> None:
    overload, told = with_executions(2, "loop", "loop", "shell")
    overload.pass_time(WINDOW_NS - 1, WINDOW_NS - 1)
    assert told == []
    overload.pass_time(3 * WINDOW_NS + 5, 2 * WINDOW_NS + 6)
    assert (overload.windows, overload.since_ns, len(told)) == (3, 0, 1)
    assert overload.shares() == {"loop": 0.667, "shell": 0.333}
    assert "from 0 s on, for 10 minutes and more" in told[0] and "its 2 cores" in told[0] and "loop 67 %, shell 33 %" in told[0]


def test_as_many_as_cores_are_none_too_many() -> None:
    overload, told = with_executions(2, "loop", "loop")
    overload.pass_time(5 * WINDOW_NS, 5 * WINDOW_NS)
    assert (overload.windows, told, overload.shares()) == (0, [], {})


def test_short_gaps_mean_nothing_and_long_ones_do() -> None:
    for gap_ns, windows in ((50 * NS, 1), (70 * NS, 0)):
        overload, _ = with_executions(1, "loop", "loop")
        overload.end("loop")
        overload.pass_time(gap_ns, gap_ns)
        overload.begin("loop")
        overload.pass_time(WINDOW_NS, WINDOW_NS - gap_ns)
        assert overload.windows == windows


def test_windows_without_computing_are_passed_over() -> None:
    overload, _ = with_executions(1)
    overload.pass_time(1000 * WINDOW_NS + 7, 1000 * WINDOW_NS + 7)
    for program in ("a", "b"):
        overload.begin(program)
    overload.pass_time(1001 * WINDOW_NS, WINDOW_NS - 7)
    assert (overload.windows, overload.since_ns) == (1, 1000 * WINDOW_NS)
