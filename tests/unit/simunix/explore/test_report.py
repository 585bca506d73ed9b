"""The page of an exploration: what it tells of failures, properties, places and strategies."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from rsg_server.choices.source import Choice
from simunix.explore.capsule import Capsule, write_capsule
from simunix.explore.record import COLUMNS, SeedsFile
from simunix.explore.report import refreshed, write_report
from simunix.rjms.scenario import load

SCENARIO = """
name: toy
epoch: 2000-01-01T00:00:00Z
hosts: [{name: a}]
processes: [{name: p, host: a, command: 'true'}]
check: [{name: both, sometimes: two <leaders>}, {name: none, never: x}]
"""
SIGNATURE = "check: check-none"


def row(seed: int, failed: tuple[str, ...] = (), reached: tuple[str, ...] = ()) -> list[Any]:
    places = {"turn": [10, seed], "delay": [4, 0]}
    values = [seed, "random", 1, list(failed), 14, seed, 7, 2.5, 0.25, "d", list(reached), places]
    return [json.dumps(value) if isinstance(value, (list, dict)) else value for value in values]


def capsule(folder: Path) -> Capsule:
    choice = Choice(3, "turn", 2, 1, 2_000_000_000, "a: q[3] runs before a: p[2]")
    fault = {"at": "1s", "host": "a", "state": "off", "duration": "4s"}
    finding = {"kind": "check", "where": "check-none", "text": "on a: x <b>", "at_ns": 6_000_000_000, "signature": SIGNATURE}
    return Capsule(
        folder=str(folder),
        overrides=(),
        events=(fault,),
        seed=2,
        random_seed=0,
        strategy="random",
        signature=SIGNATURE,
        findings=(finding,),
        digest="d",
        programs={},
        choices=(choice,),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An exploration of three seeds, one of which failed."""
    (tmp_path / "toy.yaml").write_text(SCENARIO)
    found = tmp_path / "found"
    found.mkdir()
    (found / "explore.json").write_text('{"strategy": "portfolio"}')
    with (found / "seeds.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, row(0), row(1), row(2, (SIGNATURE,))])
    write_capsule(capsule(tmp_path), tmp_path / "toy.yaml", found / "failures" / "one")
    return found


def text_of(folder: Path) -> str:
    return write_report(folder, load(folder.parent / "toy.yaml")).read_text()


def test_the_page_tells_the_story_and_the_counts(folder: Path) -> None:
    text = text_of(folder)
    assert "Exploration of toy" in text and "in 1 of 3 seeds" in text
    assert "1.000000 s: the power of a is cut, for 4s" in text and "a: q[3] runs before a: p[2]" in text
    assert "on a: x &lt;b&gt;" in text and "<b>" not in text.partition("<body>")[2].replace("alone: <b>", "")
    assert "No seed has reached check-both (sometimes)" in text
    assert '<th scope="row">turn</th><td>30</td><td>3</td><td>10.00%</td><td>2</td>' in text
    assert '<th scope="row">check-none</th><td>never</td><td></td><td>1</td>' in text
    assert '<th scope="row">random</th><td>3</td><td>1</td><td>33.3%</td><td>0.25 s</td>' in text
    assert "--explain" in text and "Critical pair" not in text


def test_the_timeline_places_faults_choices_and_the_failure(folder: Path) -> None:
    text = text_of(folder)
    assert 'style="left:0.00%;width:80.00%"' in text  # from 1 to 5 s, of 1 to 6 s
    assert 'style="left:20.00%;width:0.40%"' in text
    assert '<span class="failed" title="6.000000 s: on a: x &lt;b&gt;" style="left:99.00%' in text


def test_the_explanation_is_shown(folder: Path) -> None:
    side = {"ends": ["failed"], "calls": ["read(3)"], "threads": ["a: p[2] is ready"], "stacks": {"a: p[2]": ["main ()"]}}
    passing = {"ends": ["ends without a failure"], "calls": ["close(3)"], "threads": [], "stacks": {}}
    pair = {
        "at_ns": 2_000_000_000,
        "what": "a: q[3] runs before a: p[2]",
        "before": ["open"],
        "failing": side,
        "passing": passing,
    }
    told = {"pair": pair, "curve": [[0, 1, 4], [2_000_000_001, 4, 4]], "likely_since_ns": 2_000_000_001}
    (folder / "failures/one/explain.json").write_text(json.dumps(told))
    path = refreshed(folder / "failures/one")
    assert path == folder / "report.html"
    text = path.read_text()
    assert "Critical pair" in text and "main ()" in text and "likely from 2.000000 s on" in text
    assert '<span class="critical" title="2.000000 s: a: q[3] runs before a: p[2]"' in text
    assert "0.000000 s: 1 of 4" in text and 'class="likely" style="left:0;width:100.0%' in text


def test_a_capsule_elsewhere_has_no_report(tmp_path: Path) -> None:
    (tmp_path / "toy.yaml").write_text(SCENARIO)
    write_capsule(capsule(tmp_path), tmp_path / "toy.yaml", tmp_path / "one")
    assert refreshed(tmp_path / "one") is None


def test_rows_of_an_earlier_release_have_no_places(folder: Path) -> None:
    with (folder / "seeds.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS[:-1], row(0)[:-1]])
    (found,) = SeedsFile(folder / "seeds.csv").read()
    assert found.places == {}
    assert "Coverage of choices" not in text_of(folder)
