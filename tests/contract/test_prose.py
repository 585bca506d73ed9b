"""Prose that can be read: no sentence of a page or docstring is too long, few are long, no page is too hard."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.contract.prose import ROOT, Sentence, grade, of_page, sentences

MOST_WORDS = 50
"""Of a sentence, or of a table's cell."""
LONG_WORDS, MOST_LONG = 35, 0.04
"""Which share of the sentences of eight words and more may be longer than that. In November 2026 it was 4.2 %, then 3.5 %."""
HIGHEST_GRADE = 8.7
"""Of a page's sentences of eight words and more; the hardest page had 9.0."""
GENERATED = ("docs/internals/messages.md",)


@pytest.fixture(scope="module")
def prose() -> list[Sentence]:
    """The sentences of eight words and more: others are names and cells of tables."""
    return [sentence for sentence in sentences() if sentence.words >= 8]


def test_no_sentence_is_too_long(prose: list[Sentence]) -> None:
    """Cut it in two: a sentence says one thing."""
    found = [f"{one.where}: {one.words} words: {one.text}" for one in prose if one.words > MOST_WORDS]
    assert not found, f"more than {MOST_WORDS} words:\n" + "\n".join(found)


def test_few_sentences_are_long(prose: list[Sentence]) -> None:
    found = sorted((one for one in prose if one.words > LONG_WORDS), key=lambda one: -one.words)
    worst = "\n".join(f"{one.where}: {one.words} words: {one.text}" for one in found[:20])
    assert len(found) <= MOST_LONG * len(prose), f"{len(found)} of {len(prose)} sentences; the longest:\n{worst}"


def test_no_page_is_too_hard(prose: list[Sentence]) -> None:
    pages: defaultdict[str, list[Sentence]] = defaultdict(list)
    for one in prose:
        if ".md:" in one.where and not one.where.startswith(GENERATED):
            pages[one.where.split(":")[0]].append(one)
    grades = {page: grade(found) for page, found in pages.items() if len(found) >= 5}
    assert {page: found for page, found in grades.items() if found > HIGHEST_GRADE} == {}, "shorter sentences, shorter words"


PAGE = """# A heading is no sentence

A first sentence, with [a link](there.md) and `code. That` is a word. A second one
goes on in the next line. simunix begins a third one.

* An item, e.g. this one.
* Another (with a sentence in it.) And one more!

```bash
no prose. None.
```

| a cell | a second one. Of two sentences |
"""


def test_sentences_are_found_where_they_are() -> None:
    assert [(one.where, one.text) for one in of_page(PAGE, "page.md")] == [
        ("page.md:3", "A first sentence, with a link and CODE is a word."),
        ("page.md:3", "A second one goes on in the next line."),
        ("page.md:3", "simunix begins a third one."),
        ("page.md:6", "An item, e.g. this one."),
        ("page.md:7", "Another (with a sentence in it.)"),
        ("page.md:7", "And one more!"),
        ("page.md:13", "a cell"),
        ("page.md:13", "a second one."),
        ("page.md:13", "Of two sentences"),
    ]


def test_a_long_sentence_is_named_with_its_place() -> None:
    (found,) = of_page("word " * 51 + "end.", "page.md")
    with pytest.raises(AssertionError, match=r"page\.md:1: 52 words: word word"):
        test_no_sentence_is_too_long([found])
    with pytest.raises(AssertionError, match="shorter sentences"):
        test_no_page_is_too_hard([Sentence("page.md:1", "Incomprehensibly characteristical considerations. " * 3)] * 5)


def test_docstrings_are_among_them(prose: list[Sentence]) -> None:
    places = {one.where.split(":")[0] for one in prose}
    assert {"simunix/results/jobs_csv.py", "rsg_server/rsg/tasks.py", "docs/guide/hosts.md", "README.md"} <= places
    assert all((ROOT / place).exists() for place in places)
