"""Folders of runs that no run left so: damaged, cut off or hostile files end in one line that names file and place."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.report.differences import differences
from simunix.report.run_data import read_run
from simunix.results.run_json import RunRecord, read_record
from tests.unit.simunix.report import runs

Change = Callable[[Path], object]


def told(**keys: object) -> Change:
    """More in run.json."""

    def change(folder: Path) -> None:
        path = folder / "run.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | keys))

    return change


def put(name: str, content: str | bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def column(name: str, value: str) -> Change:
    """Another value in the first job's line of jobs.csv."""

    def change(folder: Path) -> None:
        with (folder / "jobs.csv").open(newline="") as file:
            rows = list(csv.reader(file))
        rows[1][rows[0].index(name)] = value
        with (folder / "jobs.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)

    return change


CONTEXT = {"workload": "w", "running": [1], "waiting": [], "reasons": None}
BOTH, ALL, TRACE = ("report", "trace"), ("report", "trace", "convert"), ("trace",)


@pytest.mark.parametrize(
    ("change", "commands", "said"),
    [
        (told(wall_s="x"), ALL, "run.json: wall_s: Input should be a valid number, got 'x'"),
        (told(virtual_s=float("inf")), ALL, "run.json: virtual_s: Input should be a finite number, got inf"),
        (told(cores=-1), ALL, "run.json: cores: Input should be greater than or equal to 0, got -1"),
        (told(counts={"a": "b"}), ALL, "run.json: counts.a: Input should be a valid integer, got 'b'"),
        (told(inputs=[1]), ALL, "run.json: inputs: Input should be a valid dictionary, got [1]"),
        (told(inputs={"scenario": 7}), ALL, "run.json: inputs.scenario: "),
        (told(roots=[1]), ALL, "run.json: roots.0: Input should be a valid dictionary, got 1"),
        (told(overrides=[None]), ALL, "run.json: overrides.0: Input should be a valid string, got None"),
        (told(valid="no"), ALL, "run.json: valid: Input should be a valid boolean, got 'no'"),
        (told(contexts=[CONTEXT]), ALL, "run.json: contexts.0.reasons: Input should be a valid list, got None"),
        (told(contexts={"workload": "w"}), ALL, "run.json: contexts: Input should be a valid list"),
        (put("run.json", '{"name": '), ALL, "run.json: not JSON"),
        (put("run.json", "[" * 100_000), ALL, "run.json: not JSON"),
        (put("run.json", "[]"), ALL, "run.json: expected an object"),
        (put("run.json", b"\xff\xfe\0"), ALL, "run.json: not JSON"),
        (put("jobs.csv", ""), ALL, "jobs.csv: "),
        (put("jobs.csv", bytes(range(256)) * 9), ALL, "jobs.csv: "),
        (put("jobs.csv", "a,b\n1,2\n"), ALL, "jobs.csv: column "),
        (column("starting_time", "1e300"), ALL, "jobs.csv:2: starting_time: expected a number, got '1e+300'"),
        (column("finish_time", "x"), ALL, "jobs.csv:2: finish_time: expected a number, got 'x'"),
        (column("starting_time", "9" * 500), ALL, "jobs.csv:2: starting_time: expected a number, got '9999"),
        (column("requested_number_of_resources", "9" * 500), ALL, "jobs.csv:2: requested_number_of_resources: expected a "),
        (column("finish_time", "-7"), BOTH, "jobs.csv:2: finish_time -7 is before starting_time"),
        (put("machines.csv", ""), ALL, "machines.csv"),
        (put("machines.csv", "host,first,cores\na,0,-4\n"), BOTH, "machines.csv:2: expected host,first,cores"),
        (put("machines.csv", "host,first,cores\na,0,x\n"), ALL, "machines.csv"),
        (put("events.jsonl", '{"a": 1}\n'), TRACE, "events.jsonl:1: no event of a run"),
        (put("events.jsonl", '{"t":' + "9" * 4000 + ',"event":"x"}\n'), TRACE, "events.jsonl:1: no event of a run"),
        (put("events.jsonl", '{"t":1,"event":"process_start"}\n'), TRACE, "events.jsonl:1: no event of a run"),
        (put("events.jsonl", '{"t":1,"event":"connect","source":[],"destination":""}\n'), TRACE, "events.jsonl:1: no event"),
        (put("events.jsonl", b"\xff\n"), TRACE, "events.jsonl: not a text file"),
    ],
)
def test_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Change, commands: tuple[str, ...], said: str
) -> None:
    folder = runs.write_run(tmp_path / "r", runs.rows(3, 2), 2)
    change(folder)
    words = {
        "report": ["report", str(folder), "-o", str(tmp_path / "r.html")],
        "trace": ["trace", str(folder), "-o", str(tmp_path / "t.json")],
        "convert": ["workload", "convert", str(folder), str(tmp_path / "o.swf")],
    }
    for command in commands:
        assert main(words[command]) == 2, command
        error = capsys.readouterr().err
        assert f"{folder}/{said}" in error
        assert error.count("\n") == 1 and len(error) < 500


def bomb(width: int, depth: int) -> str:
    """YAML that grows by its width with every line."""
    lines = [f"a: &a [{','.join(['x'] * width)}]"]
    lines += [f"{name}: &{name} [{','.join([f'*{before}'] * width)}]" for before, name in pairwise("abcdefghij"[:depth])]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: &a {b: *a}\n", bomb(9, 9)], ids=["list", "mapping", "bomb"])
def test_a_scenario_without_end_is_not_walked(tmp_path: Path, text: str) -> None:
    folders = [runs.write_run(tmp_path / name, [], 1, scenario=text + f"name: {name}\n") for name in "xy"]
    assert differences([read_run(folder) for folder in folders])[0] == []


@pytest.mark.parametrize("places", ["1-99999999999999", "4-1 x", "-5--2", "7-"])
def test_places_that_are_none_have_a_page(tmp_path: Path, places: str) -> None:
    folder = runs.write_run(tmp_path / "r", runs.rows(3, 2), 2)
    column("allocated_resources", places)(folder)
    assert main(["report", str(folder), "-o", str(tmp_path / "r.html")]) == 0


ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from([field.name for field in fields(RunRecord)]), ANYTHING, min_size=1, max_size=3))
def test_any_record_has_a_page_or_is_refused(tmp_path_factory: pytest.TempPathFactory, keys: dict[str, Any]) -> None:
    folder = runs.write_run(tmp_path_factory.mktemp("any") / "r", runs.rows(2, 1), 1)
    told(**keys)(folder)
    refused = refusal(folder)
    if refused is None:
        assert main(["report", str(folder), str(folder), "-o", str(folder / "r.html")]) == 0
    else:
        assert refused.startswith(f"{folder}/run.json: ") and len(refused.splitlines()) == 1


def refusal(folder: Path) -> str | None:
    try:
        read_record(folder / "run.json")
    except SimunixError as error:
        return str(error)
    return None
