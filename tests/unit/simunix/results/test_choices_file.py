"""choices.jsonl comes back as it was written; what no run wrote is refused with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.choices.places import PLACES, TURN
from rsg_server.choices.source import Choice
from rsg_server.errors import SimunixError
from simunix.results.choices_file import ChoicesFile, read_choices, write_choices

CHOICES = st.lists(
    st.builds(
        Choice,
        st.integers(0, 10**9),
        st.sampled_from(PLACES),
        st.integers(10, 20),
        st.integers(1, 9),
        st.integers(0, 10**15),
        st.text(max_size=20),
    ),
    max_size=10,
    unique_by=lambda choice: choice.number,
).map(lambda choices: tuple(sorted(choices, key=lambda choice: choice.number)))


@given(CHOICES, st.sets(st.sampled_from(PLACES)), st.integers(-1, 10**9))
def test_it_comes_back(
    tmp_path_factory: pytest.TempPathFactory, taken: tuple[Choice, ...], places: set[str], count: int
) -> None:
    path = tmp_path_factory.mktemp("choices") / "choices.jsonl"
    file = ChoicesFile(frozenset(places), count, taken)
    write_choices(path, file)
    assert read_choices(path) == file


HEAD = '{"places": ["turn"], "count": 9}\n'
GOOD = '{"number": 3, "place": "turn", "alternatives": 2, "taken": 1}\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("[]\n", "c:1: expected an object"),
        ('{"places": ["moon"], "count": 9}\n', "c:1: expected places"),
        (HEAD + "{", "c:2: not JSON"),
        (HEAD + '{"number": "3"}\n', "c:2: number: expected int"),
        (HEAD + GOOD.replace('"taken": 1', '"taken": 2'), "c:2: no choice of a run"),
        (HEAD + GOOD + GOOD, "not in the order of their numbers"),
    ],
)
def test_what_no_run_wrote_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "c"
    path.write_text(text)
    with pytest.raises(SimunixError) as refused:
        read_choices(path)
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SimunixError, match=r"choices\.jsonl"):
        read_choices(tmp_path / "missing")


def test_an_older_file_needs_no_words(tmp_path: Path) -> None:
    path = tmp_path / "c"
    path.write_text(HEAD + GOOD)
    assert read_choices(path).taken == (Choice(3, TURN, 2, 1),)
