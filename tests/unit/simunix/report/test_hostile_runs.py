"""Folders of runs that no run left so: damaged, cut off or hostile files end in one line that names file and place."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from random import Random
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


def cut_row(name: str) -> Change:
    """The third line of a file, without its last field."""

    def change(folder: Path) -> None:
        lines = (folder / name).read_text().splitlines()
        lines[2] = lines[2].rpartition(",")[0]
        (folder / name).write_text("\n".join(lines) + "\n")

    return change


CONTEXT = {"workload": "w", "running": [1], "waiting": [], "reasons": None}
POWER = "time,watts,cap\n0,716,\n10.1,786,\n"
CONSUMED = "time,energy,event_type,wattmin,epower\n0,0,s,1,x\n"
REPORT = ("report",)
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
        (put("machines.csv", ""), ALL, "machines.csv:1: expected the columns host,first,cores"),
        (
            put("machines.csv", "host,first,cores\na,0,-4\n"),
            ALL,
            "machines.csv:2: cores: expected a whole number from 1 to 1,048,576, got '-4'",
        ),
        (put("machines.csv", "host,first,cores\na,0,x\n"), ALL, "machines.csv:2: cores: expected a whole number"),
        (put("machines.csv", "host,first,cores\na,0,4\nb,5,4\n"), ALL, "machines.csv:3: first: expected 4, the cores of the"),
        (put("machines.csv", "host,first,cores\na,0,4\na,4,4\n"), ALL, "machines.csv:3: host: 'a' is there already"),
        (cut_row("jobs.csv"), ALL, "jobs.csv:3: expected 32 fields, job_id,"),
        (put("jobs.csv", "job_id,job_id\n1,2\n"), ALL, "jobs.csv:1: two columns of one name"),
        (put("power.csv", POWER.replace("10.1,", "10.1;2,")), REPORT, "power.csv:3: time: expected a number, got '10.1;2'"),
        (put("power.csv", POWER.replace("786", "")), REPORT, "power.csv:3: watts: expected a number, got nothing"),
        (put("power.csv", POWER.replace("786,", "786")), REPORT, "power.csv:3: expected 3 fields, time,watts,cap, got 2"),
        (put("power.csv", POWER.replace("10.1", "-1")), REPORT, "power.csv:3: time: -1 is before that of the line above"),
        (put("power.csv", POWER + "20,1,x\n"), REPORT, "power.csv:4: cap: expected a number, got 'x'"),
        (put("energy.csv", "kind,name,joules,mean_watts\nhost,a,1;2,3\n"), REPORT, "energy.csv:2: joules: expected a number"),
        (put("energy.csv", "kind,name\n"), REPORT, "energy.csv:1: expected the columns kind,name,joules,mean_watts"),
        (put("pstate_changes.csv", "time,machine_id,new_pstate\n0,0-x,1\n"), REPORT, "pstate_changes.csv:2: machine_id: exp"),
        (put("consumed_energy.csv", CONSUMED), REPORT, "consumed_energy.csv:2: epower: expected a number or NA, got 'x'"),
        (column("stretch", "x"), REPORT, "jobs.csv:2: stretch: expected a number, got 'x'"),
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


# Damage of any kind


FILES = {
    "power.csv": POWER,
    "machine_states.csv": "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing\n0,0,0,0,4,0\n5,0,0,0,2,2\n",
    "energy.csv": "kind,name,joules,mean_watts\nhost,n1,100.5,3.2\nall,,100.5,3.2\n",
    "consumed_energy.csv": "time,energy,event_type,wattmin,epower\n0,0,s,1,NA\n9,40,e,1,4.4\n",
    "pstate_changes.csv": "time,machine_id,new_pstate\n0,0-3,0\n7,1 3,-1\n",
    "links.csv": "time,link,bytes,rate,utilisation\n0,n1_UP,100,10,0.1\n10,n1_UP,200,20,0.2\n",
    "storages.csv": "time,interval,storage,read_bytes,written_bytes,operations,mean_response_s,used\n0,1,n1/d,1,2,3,0.5,0.1\n",
}
WORDS = b'-1 0 nan inf 1e999 1e300 x ; [ { null 1- " \xff \x00'.split(b" ")
VALUES = [*WORDS, b"", b"9" * 30, b"9" * 5000, b'"a\nb"', b"5" * 200_000]
VALUE = re.compile(rb'[^,\n{}\[\]:"]+')


def value_changed(random: Random, data: bytes) -> bytes:
    """One or two values are others."""
    for _ in range(random.randint(1, 2)):
        at = random.choice(list(VALUE.finditer(data)))
        data = data[: at.start()] + random.choice(VALUES) + data[at.end() :]
        if not VALUE.search(data):
            break
    return data


def bytes_changed(random: Random, data: bytes) -> bytes:
    """Some bytes are others."""
    found = bytearray(data)
    for _ in range(random.randint(1, 8)):
        found[random.randrange(len(found))] = random.randrange(256)
    return bytes(found)


def column_lost(random: Random, data: bytes) -> bytes:
    """A column is missing in all lines."""
    lost = random.randrange(6)
    rows = [line.split(b",") for line in data.split(b"\n")]
    return b"\n".join(b",".join(field for index, field in enumerate(row) if index != lost) for row in rows)


def lines_moved(random: Random, data: bytes) -> bytes:
    """The lines have another order, and one is there twice."""
    lines = data.split(b"\n")
    lines.append(random.choice(lines))
    random.shuffle(lines)
    return b"\n".join(lines)


DAMAGES: tuple[Callable[[Random, bytes], bytes], ...] = (
    value_changed,
    value_changed,
    bytes_changed,
    column_lost,
    lines_moved,
    lambda random, data: data[: random.randrange(len(data))],
    lambda random, data: random.choice([b"", b"\n", b"\0" * 999, random.randbytes(300), b"[]", b"a,b\n"]),
)


@pytest.mark.parametrize("number", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_any_damage_of_any_file_is_one_line_or_no_harm(number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, folder = runs.write_run(tmp_path / "whole", runs.rows(6, 4), 4), tmp_path / "r"
    (whole / "events.jsonl").write_text('{"t":1,"event":"process_exit","number":1,"program":"a","pid":7}\n' * 4)
    for name, text in FILES.items():
        put(name, text)(whole)
    names = sorted(path.name for path in whole.iterdir() if path.is_file() and path.stat().st_size)
    commands = [
        ["report", str(folder), "-o", str(tmp_path / "r.html")],
        ["report", "--why", str(whole), str(folder)],
        ["trace", str(folder), "-o", str(tmp_path / "t.json")],
        ["workload", "convert", str(folder), str(tmp_path / "o.swf")],
        ["net", "plot", str(folder), "-o", str(tmp_path / "n.svg")],
    ]
    ends = Counter[int]()
    random = Random(number)
    for _ in range(number):
        shutil.copytree(whole, folder)
        damaged = folder / random.choice(names)
        damaged.write_bytes(random.choice(DAMAGES)(random, damaged.read_bytes()))
        end = main(random.choice(commands))
        said = capsys.readouterr().err
        assert end in (0, 1) or (said.count("\n") == 1 and len(said) < 700), said
        ends[end] += 1
        shutil.rmtree(folder)
        for left in (tmp_path / "o.swf", tmp_path / "t.json", tmp_path / "n.svg"):
            left.unlink(missing_ok=True)
    assert ends[2] >= number // 5 and ends[0] >= number // 6, ends
