"""`simunix compare` of runs that are there: what it prints, draws and writes, also against a site's accounting."""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from simunix.cli.main import main
from simunix.results.jobs_csv import JobRow
from tests.unit.simunix.report import runs

COUNT = 12


def jobs(mean_gap_s: float = 30, late: float = 0.0, name: str = "w") -> list[JobRow]:
    """Jobs of three users, two accounts and partitions; user ann's start `late` seconds later."""
    found = []
    for row in runs.rows(COUNT, 8, mean_gap_s=mean_gap_s, name=name):
        user = ("ann", "bob", "cy")[row.job_id % 3]
        names = {"user": user, "account": "phys" if user == "cy" else "chem", "partition": f"p{row.job_id % 2}"}
        start, end = row.starting_time, row.finish_time
        assert start is not None and end is not None
        by = late if user == "ann" else 0.0
        found.append(replace(row, **names, starting_time=start + by, finish_time=end + by))
    return found


def folder(tmp_path: Path, name: str, rows: Sequence[JobRow]) -> Path:
    return runs.write_run(tmp_path / name, list(rows), 8)


def accounting(path: Path, rows: Sequence[JobRow]) -> Path:
    """What `sacct -P` of a site prints that had these jobs, a thousand seconds after some midnight."""
    zero = datetime.datetime(2024, 3, 1) + datetime.timedelta(seconds=1000)

    def date(seconds: float | None) -> str:
        return "Unknown" if seconds is None else (zero + datetime.timedelta(seconds=seconds)).isoformat(timespec="seconds")

    lines = ["JobID|User|Account|Partition|QOS|Submit|Start|End|AllocCPUS|State"]
    for row in rows:
        names = f"{row.job_id}|{row.user}|{row.account}|{row.partition}|{'high' if row.job_id % 4 else 'normal'}"
        dates = "|".join(map(date, (row.submission_time, row.starting_time, row.finish_time)))
        lines.append(f"{names}|{dates}|{row.allocated_cores}|COMPLETED")
    path.write_text("\n".join(lines) + "\n")
    return path


def table(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_who_loses_is_told_with_the_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = folder(tmp_path, "one", jobs()), folder(tmp_path, "two", jobs(late=100)[:-1])
    assert main(["compare", str(one), str(two), "-o", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert "two against one: 0 jobs start earlier, 3 later, 8 at the same moment; 1 are not in it; " in told
    assert "0 users win, 1 loses; 0 accounts win, 1 loses" in told
    assert re.search(r"ann +4 +0 +3 .* \+00:01:40 +loses", told) and re.search(r"\nbob .* 0 s +same", told)
    assert re.search(r"Later by most\njob +user.*\n3 +ann +chem +p1 .* \+00:01:40", told)
    assert "Only in one (1 job): 12\n" in told
    assert f"simunix report --why {one} {two}" in told
    assert "earlier by most" not in told.lower()
    changes = {row["job_id"]: row for row in table(tmp_path / "out/changes.csv")}
    assert (changes["3"]["fate"], changes["3"]["change"], changes["3"]["user"]) == ("later", "100", "ann")
    assert (changes["12"]["fate"], changes["12"]["variant"]) == ("gone", "two")
    starts = {str(row.job_id): row.starting_time for row in jobs(late=100)[:-1]}
    assert {number: float(row["start_other"]) for number, row in changes.items() if row["start_other"]} == starts, (
        "no digit lost"
    )
    groups = {(row["by"], row["name"]): row for row in table(tmp_path / "out/groups.csv")}
    assert groups["user", "ann"]["wait_change"] == "100" and groups["user", "ann"]["verdict"] == "loses"
    assert {by for by, _ in groups} == {"user", "account", "partition"}
    page = (tmp_path / "out/compare.html").read_text()
    assert "Which users and jobs win or lose, against one" in page and "How far to trust the run" not in page
    assert page.count('class="loses"') == 4, "ann, chem and both partitions"


def test_jobs_are_matched_by_number_whatever_the_trace_is_called(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = folder(tmp_path, "one", jobs()), folder(tmp_path, "two", jobs(name="copy.swf"))
    assert main(["compare", str(one), str(two), "-o", str(tmp_path / "out")]) == 0
    assert "0 jobs start earlier, 0 later, 12 at the same moment" in capsys.readouterr().out


def test_the_same_runs_give_the_same_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", str(folder(tmp_path, "one", jobs())), str(folder(tmp_path, "two", jobs(late=9)))]
    site = accounting(tmp_path / "sacct.txt", jobs(late=40))
    pages = []
    for out in ("a", "b"):
        assert main([*words, "--against", str(site), "-o", str(tmp_path / out)]) == 0
        pages.append((tmp_path / out / "compare.html").read_bytes())
    assert pages[0] == pages[1]


def test_the_base_is_held_against_the_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = folder(tmp_path, "one", jobs()[1:]), folder(tmp_path, "two", jobs(late=100))
    site = accounting(tmp_path / "sacct.txt", jobs(late=100))
    assert main(["compare", str(one), str(two), "--against", str(site), "-o", str(tmp_path / "out")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "jobs that started in both 11 12" in told
    assert "error, mean with sign −36.36 s 0 s error, median 0 s 0 s error, 75 % at most 00:01:40 0 s" in told
    assert "starts within 3 s 63.6% 100.0% starts within 1 min 63.6% 100.0% starts within 10 min 100.0% 100.0%" in told
    assert "1 of the site's jobs are not in the run." in told
    page = (tmp_path / "out/compare.html").read_text()
    assert "How far to trust the run: one against sacct.txt" in page and "<h3>By QOS, in one</h3>" in page, "the site knows QOS"
    errors = [row for row in table(tmp_path / "out/errors.csv") if row["run"] == "one" and row["error"]]
    assert {(row["user"], row["error"]) for row in errors} == {("ann", "-100"), ("bob", "0"), ("cy", "0")}


def test_one_run_may_be_held_against_the_site_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = accounting(tmp_path / "sacct.txt", jobs())
    assert main(["compare", str(folder(tmp_path, "one", jobs())), "--against", str(site), "-o", str(tmp_path / "out")]) == 0
    assert "starts within 3 s 100.0%" in " ".join(capsys.readouterr().out.split())
    page = (tmp_path / "out/compare.html").read_text()
    assert "<title>one against sacct.txt</title>" in page and "Which users and jobs win" not in page


def test_jobs_that_never_had_a_processor_have_not_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = accounting(tmp_path / "sacct.txt", jobs())
    lines = site.read_text().splitlines()
    fields = lines[1].split("|")
    fields[7], fields[8], fields[9] = fields[6], "0", "CANCELLED by 0"
    site.write_text("\n".join([lines[0], "|".join(fields), *lines[2:]]) + "\n")
    assert main(["compare", str(folder(tmp_path, "one", jobs())), "--against", str(site), "-o", str(tmp_path / "out")]) == 0
    assert "1 jobs started in the run and not on the site." in capsys.readouterr().out


ARRAY = {1: "7_1", 2: "7_2", 3: "9"}
"""Names in the site's accounting of three jobs: a trace's numbers are others then."""


@pytest.mark.parametrize("knows_names", [True, False])
def test_elements_of_arrays_are_matched(tmp_path: Path, capsys: pytest.CaptureFixture[str], knows_names: bool) -> None:
    """By name where the run knows it (from a job table, of which it has a part), else by the lines of the dump."""
    rows = jobs()[:3]
    site = accounting(tmp_path / "sacct.txt", jobs(late=40)[:3])
    lines = [line.partition("|") for line in site.read_text().splitlines()]
    renamed = ["|".join((ARRAY[int(number)], rest)) for number, _, rest in lines[1:]]
    own = rows[1:] if knows_names else rows
    if knows_names:
        own = [replace(row, job_id=row.job_id - 1, metadata=f"{ARRAY[row.job_id]}; a remark") for row in own]
    site.write_text("\n".join(["|".join((lines[0][0], lines[0][2])), *renamed]) + "\n")
    assert main(["compare", str(folder(tmp_path, "one", own)), "--against", str(site), "-o", str(tmp_path / "out")]) == 0
    errors = {row["user"]: row["error"] for row in table(tmp_path / "out/errors.csv") if row["fate"] != "gone"}
    assert errors == {"ann": "-40", "cy": "0"} | ({} if knows_names else {"bob": "0"})


def test_accounting_that_does_not_fit_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = folder(tmp_path, "one", jobs())
    others = [replace(row, job_id=row.job_id + 1000) for row in jobs()]
    cases = [
        (accounting(tmp_path / "other.txt", others), "none of its 12 jobs is one of one's (numbers 1001, … and 1, …)"),
        (
            accounting(tmp_path / "waits.txt", [replace(row, starting_time=None, finish_time=None) for row in jobs()]),
            "has a start",
        ),
        (tmp_path / "other.xls", "no such file"),
    ]
    twice = folder(tmp_path, "twice", [*jobs(), *jobs(name="v")])
    for site, said in cases:
        assert main(["compare", str(one), "--against", str(site), "-o", str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert said in error and error.count("\n") == 1
    site = accounting(tmp_path / "sacct.txt", jobs())
    assert main(["compare", str(twice), "--against", str(site), "-o", str(tmp_path / "out")]) == 2
    assert "twice has several workloads with jobs of one number" in capsys.readouterr().err


@pytest.mark.slow
def test_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(folder(tmp_path, "one", jobs())), str(folder(tmp_path, "two", jobs(late=100)))]
    site = accounting(tmp_path / "sacct.txt", jobs(late=40))
    words += ["--against", str(site), "-o", str(tmp_path / "out"), "--figures", str(tmp_path / "fig"), "--format", "svg"]
    assert main(["compare", *words]) == 0
    drawn = {path.stem for path in (tmp_path / "fig").iterdir()}
    assert {"user-two", "account-two", "partition-two", "moved", "errors", "late", "waits"} <= drawn


def test_runs_without_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(folder(tmp_path, "one", jobs())), str(folder(tmp_path, "two", []))]
    assert main(["compare", *words, "-o", str(tmp_path / "out")]) == 0
    assert "two: This run had no jobs." in capsys.readouterr().out
    assert main(["compare", *reversed(words), "-o", str(tmp_path / "out")]) == 0


def test_hostile_names_stay_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "<img src=x onerror=alert(1)>[bold]"
    rows = [replace(row, user=evil if row.user == "ann" else row.user) for row in jobs()]
    later = [replace(row, user=evil if row.user == "ann" else row.user) for row in jobs(late=100)]
    assert (
        main(["compare", str(folder(tmp_path, "o", rows)), str(folder(tmp_path, "[red]", later)), "-o", str(tmp_path / "x")])
        == 0
    )
    assert evil in capsys.readouterr().out
    assert "<img" not in (tmp_path / "x/compare.html").read_text()
