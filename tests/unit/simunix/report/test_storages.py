"""Storages in a report: a chart for each run that has any, with jobs and without, and storages.csv read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from rsg_server.storage.usage import COLUMNS
from simunix.cli.main import main
from simunix.results.storage_usage import SHOWN_MAX, read_storage_use
from tests.unit.simunix.report import runs
from tests.unit.simunix.report.test_report import data_of

ROWS = ("0,1,n1/fast,5000000,0,1,1,0.5", "0,1,n2/slow,0,1000000,0,1,1", "3,0.5,n1/fast,2500000,0,1,0.5,0.25")


def with_storages(folder: Path, *rows: str) -> Path:
    (folder / "storages.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    return folder


def test_a_chart_for_each_run_that_has_storages(tmp_path: Path) -> None:
    first = with_storages(runs.write_run(tmp_path / "one", runs.rows(5, 2), 2), *ROWS)
    second = with_storages(runs.write_run(tmp_path / "two", [], 2))
    page = tmp_path / "report.html"
    assert main(["report", str(first), str(second), "-o", str(page)]) == 0
    text = page.read_text()
    assert 'id="storages-0"' in text and "no storage did anything" in text
    use, nothing = data_of(text)["storages"]
    assert nothing is None
    assert use == {
        "names": ["n1/fast", "n2/slow"],
        "x": [0, 1, 3, 3.5],
        "y": [[50, 0, 25, 0], [100, 0, 0, 0]],
        "read": [[5, 0, 5, 0], [0, 0, 0, 0]],
        "written": [[0, 0, 0, 0], [1, 0, 0, 0]],
    }


@pytest.mark.slow
def test_the_chart_as_a_picture_needs_no_jobs(tmp_path: Path) -> None:
    one = with_storages(runs.write_run(tmp_path / "one", [], 2), *ROWS)
    assert main(["report", str(one), "-o", str(tmp_path / "r.html"), "--figures", str(tmp_path / "figures")]) == 0
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"storages-one.png", "storages-one.svg"}


def test_the_busiest_are_shown(tmp_path: Path) -> None:
    rows = [f"0,1,n{number}/d,{number},0,1,1,0.5" for number in range(1, SHOWN_MAX + 4)]
    use = read_storage_use(with_storages(tmp_path, *rows))
    assert use is not None and (len(use.used), use.total) == (SHOWN_MAX, SHOWN_MAX + 3)
    assert next(iter(use.used)) == f"n{SHOWN_MAX + 3}/d"


def test_a_file_that_is_not_right_is_named(tmp_path: Path) -> None:
    assert read_storage_use(tmp_path) is None
    with pytest.raises(SimunixError, match=r"storages.csv:2: read_bytes: expected a whole number, got 'x'"):
        read_storage_use(with_storages(tmp_path, "0,1,n1/d,x,0,1,1,0.5"))
    (tmp_path / "storages.csv").write_text("time\n")
    with pytest.raises(SimunixError, match=r"storages.csv:1: expected the columns"):
        read_storage_use(tmp_path)
