"""Inputs that failed once, and some seconds of new ones; `python -m tests.endurance.fuzz` has an hour of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.endurance.fuzz import KINDS, SEEDS, fuzz, problem_of
from tests.endurance.mutations import mutated

BY_NAME = {kind.name: kind for kind in KINDS}


@pytest.mark.parametrize("path", sorted(SEEDS.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_has_failed_once(path: Path) -> None:
    kind = next(kind for kind in KINDS if Path(kind.name).stem == path.parent.name)
    assert problem_of(kind, path.read_bytes()) == ""


@pytest.mark.parametrize("name", BY_NAME)
def test_some_mutations(name: str) -> None:
    chance = random.Random(name)
    kind = BY_NAME[name]
    examples = kind.examples()
    for _ in range(5):
        data = mutated(chance, examples)
        assert problem_of(kind, data) == "", data


@pytest.mark.endurance
@pytest.mark.parametrize("name", BY_NAME)
@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode(errors="surrogatepass")))
def test_any_bytes(name: str, data: bytes) -> None:
    assert problem_of(BY_NAME[name], data) == ""


@pytest.mark.endurance
@pytest.mark.parametrize("seed", [1, 2])
def test_mutations_for_a_while(seed: int) -> None:
    tally, wrong = fuzz(600, seed, count=2000)
    assert tally.total() == 2000
    assert not wrong
