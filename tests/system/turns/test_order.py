"""Another order than first in, first out: no thread hands a turn on without the server, and programs end as they should."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.system.turns.test_handoff import PROGRAMS, run

SEEDED = """
import random
from functools import partial
from simunix.app import single

class Seeded:
    allows_handoffs = False
    def __init__(self, seed):
        self.random = random.Random(seed)
    def place(self, line):
        return self.random.randrange(len(line))

single.KernelOptions = partial(single.KernelOptions, order=Seeded({seed}))
"""
"""Any of those that are ready is next, as a seed says."""


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A process of many threads that wait for each other and for time; it prints what each has seen when."""
    made = tmp_path_factory.mktemp("order") / "steps"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", made, PROGRAMS / "steps.c", "-pthread"], check=True)
    return made


def test_nobody_hands_a_turn_on_under_another_order(steps: Path, tmp_path: Path) -> None:
    in_order, many = run(steps, tmp_path / "fifo", "", "1", "piped")
    seeded, none = run(steps, tmp_path / "one", SEEDED.format(seed=1), "1", "piped")
    again, _ = run(steps, tmp_path / "two", SEEDED.format(seed=1), "1", "piped")
    other, _ = run(steps, tmp_path / "three", SEEDED.format(seed=2), "1", "piped")
    assert many > 100 and none == 0
    assert seeded == again and len({in_order, seeded, other}) == 3
    assert [len(text.splitlines()) for text in (seeded, other)] == 2 * [len(in_order.splitlines())]
