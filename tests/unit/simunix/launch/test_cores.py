"""Runs at the same time take different cores, and give them back however they end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from simunix.launch.limits import cores
from simunix.launch.limits.cores import claim

NONE_OF_OURS = range(7000, 7004)
"""Cores that no computer has, so that what else runs here does not count."""
ROOT = Path(__file__).resolve().parents[4]
HOLD = "from simunix.launch.limits.cores import claim; held = claim([7100, 7101]); print(held.core, flush=True); input()"


def test_as_many_runs_as_cores_have_one_each() -> None:
    with ExitStack() as stack:
        taken = [stack.enter_context(claim(NONE_OF_OURS)).core for _ in NONE_OF_OURS]
        assert sorted(taken) == list(NONE_OF_OURS)


def test_more_runs_than_cores_share_them_evenly() -> None:
    with ExitStack() as stack:
        taken = [stack.enter_context(claim(NONE_OF_OURS)).core for _ in range(10)]
        assert sorted(Counter(taken).values()) == [2, 2, 3, 3]


def test_a_released_core_is_the_next_ones() -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(claim(NONE_OF_OURS)) for _ in NONE_OF_OURS]
        held[2].release()
        held[2].release()
        assert stack.enter_context(claim(NONE_OF_OURS)).core == held[2].core


def test_only_cores_that_we_may_run_on_count() -> None:
    with claim() as taken:
        assert taken.core in os.sched_getaffinity(0)


def test_where_names_cannot_be_bound_any_core_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: object, address: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(cores.socket, "socket", type("Refused", (cores.socket.socket,), {"bind": refused}))
    assert claim(NONE_OF_OURS).core in NONE_OF_OURS


def test_another_process_takes_the_other_core_and_a_killed_one_gives_it_back() -> None:
    first, second = (
        subprocess.Popen([sys.executable, "-c", HOLD], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    )
    with first, second:
        try:
            assert first.stdout and second.stdout
            taken = [int(first.stdout.readline()), int(second.stdout.readline())]
            assert sorted(taken) == [7100, 7101]
            first.kill()
            first.wait()
            with claim([7100, 7101]) as ours:
                assert ours.core == taken[0]
        finally:
            first.kill()
            second.kill()
