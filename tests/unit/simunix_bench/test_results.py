"""The table and the JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from simunix.results.dependencies import cpu_model
from simunix_bench.machine import describe, sentence
from simunix_bench.results import Results, notes, print_results, table
from simunix_bench.row import Row, at_least, at_most, missing

MACHINE: dict[str, object] = {
    "cpu": "Some [CPU]",
    "cores": 2,
    "memory_bytes": 24 << 30,
    "kernel": "6.1",
    "python": "3.11.7",
    "slurm": None,
    "simunix": "0.1.0",
    "commit": None,
    "load": 0.5,
}
ROWS = [
    ("turn", Row("ratio", "a ratio", 2.5, "×", at_most(2))),
    ("turn", Row("detail", "a detail", 1.0, is_detail=True, note="of nobody's interest")),
    ("idle", Row("speed", "speed [fast]", 60_000.0, "", at_least(50_000), "measured once")),
    ("jobs", missing("faketime", "under faketime", "faketime is not installed: apt install faketime")),
]


def test_table_has_a_line_for_each_figure() -> None:
    console = Console(width=120)
    with console.capture() as capture:
        console.print(table(ROWS))
    words = [line.split("│")[1:-1] for line in capture.get().splitlines() if line.startswith("│")]
    assert [[cell.strip() for cell in line] for line in words] == [
        ["a ratio", "2.5 ×", "≤ 2 ×", "missed"],
        ["speed [fast]", "60,000", "≥ 50,000", "ok"],
        ["under faketime", "—", "", "not measured"],
    ]


def test_notes_name_their_figures() -> None:
    both = [*ROWS, ("jobs", missing("other", "the other", "faketime is not installed: apt install faketime"))]
    assert notes(both) == [
        "speed [fast]: measured once",
        "under faketime; the other: not measured: faketime is not installed: apt install faketime",
    ]


def test_json_has_machine_date_and_rows(tmp_path: Path) -> None:
    results = Results(MACHINE, rows=list(ROWS))
    results.write(tmp_path / "out.json")
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["machine"] == MACHINE
    assert found["date"].endswith("+00:00")
    assert [row["name"] for row in found["rows"]] == ["ratio", "detail", "speed", "faketime"]
    assert found["rows"][0] == {
        "benchmark": "turn",
        "name": "ratio",
        "text": "a ratio",
        "value": 2.5,
        "unit": "×",
        "aim": {"at_most": 2},
        "verdict": "missed",
        "note": "",
    }
    assert found["rows"][3]["value"] is None
    assert list(tmp_path.iterdir()) == [tmp_path / "out.json"]


def test_print_says_what_was_measured_on_what(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(Results(MACHINE, is_quick=True, rows=list(ROWS)))
    said = capsys.readouterr().out
    assert "2 cores of Some [CPU], 24 GiB, Linux 6.1, Python 3.11.7, simunix 0.1.0; load 0.5 before." in said
    assert "--quick" in said


def test_this_computer_is_described() -> None:
    machine = describe()
    assert {"cpu", "cores", "memory_bytes", "kernel", "python", "slurm", "simunix", "commit", "load"} <= set(machine)
    assert sentence(machine)


def test_cpu_model() -> None:
    assert cpu_model("processor\t: 0\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\nmodel name\t: other\n") == "AMD EPYC"
    assert cpu_model("processor: 0\n") is None
