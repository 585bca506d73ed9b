"""The critical pair, and how many clean seeds are enough."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from rsg_server.choices.source import Choice
from simunix.explore.why.chances import clean_seeds, least_rate
from simunix.explore.why.critical import Steps, critical_pair
from simunix.explore.why.explain import likely_since
from simunix.explore.why.parting import Call, calls_of, parting
from simunix.explore.why.watch import frames_of

CHOICES = tuple(Choice(number, "turn", 2, 1) for number in range(9))


def steps(events: int = 0) -> list[Steps]:
    faults = tuple({"at": f"{number}s", "host": "a"} for number in range(events))
    return [Steps(faults[:count], ()) for count in range(events + 1)] + [
        Steps(faults, CHOICES[:count]) for count in range(1, 10)
    ]


@pytest.mark.parametrize("least", range(1, 10))
def test_the_pair_differs_in_the_choice_that_makes_it_fail(least: int) -> None:
    asked = []

    def fails(run: Steps) -> bool:
        asked.append(run)
        return len(run.choices) >= least

    pair = critical_pair(steps(), fails)
    assert pair is not None and pair.choice == CHOICES[least - 1] and pair.event is None
    assert pair.passing.choices == CHOICES[: least - 1] and len(asked) <= 5


def test_a_fault_may_be_what_makes_it_fail() -> None:
    pair = critical_pair(steps(events=3), lambda run: len(run.events) >= 2)
    assert pair is not None and pair.choice is None and pair.event == {"at": "1s", "host": "a"}


def test_without_a_run_that_passes_there_is_no_pair() -> None:
    assert critical_pair(steps(), lambda run: True) is None
    assert critical_pair(steps()[:1], lambda run: False) is None


def test_runs_that_fail_and_pass_by_turns_still_have_a_pair() -> None:
    pair = critical_pair(steps(), lambda run: len(run.choices) % 2 == 1)
    assert pair is not None and len(pair.failing.choices) % 2 == 1 and len(pair.passing.choices) % 2 == 0


def test_clean_seeds() -> None:
    assert clean_seeds(1.0) == 1
    assert clean_seeds(0.5) == 5  # 0.5^5 = 3.1 %, 0.5^4 = 6.3 %
    assert clean_seeds(0.01) == 299
    assert 0.99**299 <= 0.05 < 0.99**298


def test_the_least_rate_by_hand() -> None:
    """With one failure of n, the limit p solves 1 - (1 - p)^n = 0.05; with n of n, p^n = 0.05."""
    assert least_rate(1, 31) == pytest.approx(1 - 0.95 ** (1 / 31))
    assert least_rate(5, 5) == pytest.approx(math.exp(math.log(0.05) / 5))
    with pytest.raises(ValueError, match="expected 1 to 5 failures, got 0"):
        least_rate(0, 5)


def test_a_moment_is_likely_only_if_all_later_ones_are() -> None:
    assert likely_since([(0, 1, 4), (5, 2, 4), (9, 4, 4)]) == 5
    assert likely_since([(0, 4, 4), (5, 1, 4), (9, 3, 4)]) == 9
    assert likely_since([(0, 1, 4)]) is None


def call(at_ns: int, text: str) -> Call:
    return Call(at_ns, "a: p.2", text)


def test_runs_part_at_the_first_call_that_differs() -> None:
    common = [call(number, f"getpid() = {number}") for number in range(5)]
    found = parting([*common, call(5, "read")], [*common, call(6, "write"), call(7, "close")])
    assert found is not None
    assert found.before == tuple(common[-3:]) and found.failing == (call(5, "read"),)
    assert found.passing == (call(6, "write"), call(7, "close"))
    assert parting(common, list(common)) is None
    shorter = parting(common, common[:2])
    assert shorter is not None and shorter.failing == tuple(common[2:]) and shorter.passing == ()


def test_traces_of_all_hosts_are_merged(tmp_path: Path) -> None:
    for host, name, text in (
        ("a", "p.2", "0.000002 read(3, 4)     = 4\nrubbish\n"),
        ("b", "q.7", "0.000001200 close(3)  = 0\n"),
    ):
        (tmp_path / "hosts" / host / "strace").mkdir(parents=True)
        (tmp_path / "hosts" / host / "strace" / name).write_text(text)
    assert calls_of(tmp_path) == [Call(1200, "b: q.7", "close(3) = 0"), Call(2000, "a: p.2", "read(3, 4) = 4")]


def test_frames_of_the_shim_are_left_out() -> None:
    text = """
[Thread debugging using libthread_db enabled]
Thread 1 (Thread 0x7f (LWP 5) "count"):
#0  syscall6 (f=0) at /somewhere/csrc/shared/kernel.h:117
#1  0x00007ffff7f0 in pread64 () from /usr/lib/simunix/libsimunix.so
#2  0x0000555555555200 in add_one () at count.c:12
#3  0x0000555555555300 in main () at count.c:21
"""
    assert frames_of(text) == ["add_one () at count.c:12", "main () at count.c:21"]
