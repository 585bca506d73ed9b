"""`simunix report`: what the page holds, and what is said of folders that are no whole runs."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simunix.cli.main import main
from simunix.report.differences import differences
from simunix.report.run_data import read_run, unique_labels
from simunix.results.jobs_csv import JobRow
from tests.unit.simunix.report import runs

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&$x_{"


def data_of(page: str) -> Any:
    found = re.search(r'id="data">([^<]*)</script>', page)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def report(tmp_path: Path, *arguments: object) -> str:
    assert main(["report", *map(str, arguments), "-o", str(tmp_path / "r.html")]) == 0
    return (tmp_path / "r.html").read_text()


def test_two_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = runs.write_run(tmp_path / "one", runs.rows(30, 4), 4, 1, "hosts: [{cores: 4}]\nslurm: {nodes: a}\n")
    two = runs.write_run(tmp_path / "two", runs.rows(30, 4, mean_gap_s=300), 4, 2, "hosts: [{cores: 8}]\nslurm: {nodes: a}\n")
    page = report(tmp_path, one, two)
    assert "2 runs" in capsys.readouterr().out
    assert "scenario.hosts[0].cores" in page and "scenario.slurm.nodes" not in page
    data = data_of(page)
    assert [run["label"] for run in data["runs"]] == ["one", "two"]
    assert len(data["table"]["job"]) == 30 and len(data["table"]["runs"]) == 2
    assert report(tmp_path, one, two) == page, "the same runs, the same bytes"
    assert data["runs"][0]["gantt"]["hosts"] == ["node0001", "node0002", "node0003", "node0004"]


def test_the_page_needs_no_network(tmp_path: Path) -> None:
    page = report(tmp_path, runs.write_run(tmp_path / "one", runs.rows(3, 2), 2))
    assert "default-src 'none'" in page
    assert not re.search(r"<(script|img|link|iframe)[^>]*\s(src|href)=", page.partition("<body>")[0])
    assert not re.search(r"@import|url\((?!['\"]?data:)", page.partition("</style>")[0])


@pytest.mark.slow
def test_figures(tmp_path: Path) -> None:
    one = runs.write_run(tmp_path / "_o$n_e$", runs.rows(700, 4), 4)
    report(tmp_path, one, one, "--figures", tmp_path / "figures", "--format", "png", "--format", "svg")
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    drawn = ("gantt-_o-n_e-1", "gantt-_o-n_e-2", "queue", "slowdowns", "utilisation", "wait-changes", "waits")
    assert names == {f"{name}.{ending}" for name in drawn for ending in ("png", "svg")}
    assert all(path.stat().st_size > 3000 for path in (tmp_path / "figures").iterdir())


def test_what_was_different(tmp_path: Path) -> None:
    text = "network: {latency: 25us}\nhosts: [{name: a, cores: 4}]\nworkload: {trace: x}\n"
    folders = [runs.write_run(tmp_path / name, [], 1, 3, text) for name in "ab"]
    record = json.loads((folders[1] / "run.json").read_text())
    record |= {"overrides": ["network.latency=1ms", "hosts.0.cores=8", "workload={trace: y}"], "rjms": "slurm 24.11.5"}
    (folders[1] / "run.json").write_text(json.dumps(record))
    differing, agreeing = differences([read_run(folder) for folder in folders])
    assert dict(differing) == {
        "rjms": ["slurm 22.05.8", "slurm 24.11.5"],
        "scenario.network.latency": ["25us", "1ms"],
        "scenario.hosts[0].cores": ["4", "8"],
        "scenario.workload.trace": ["x", "y"],
    }
    assert agreeing > 3


def test_what_was_appended(tmp_path: Path) -> None:
    text = "shared: [/a]\nhosts: [{name: a}]\n"
    folders = [runs.write_run(tmp_path / name, [], 1, 3, text) for name in "ab"]
    record = json.loads((folders[1] / "run.json").read_text())
    record |= {"overrides": ["shared+=/b", "shared+=[/c]", "hosts+={name: n}", "actors+={name: x}"]}
    (folders[1] / "run.json").write_text(json.dumps(record))
    assert dict(differences([read_run(folder) for folder in folders])[0]) == {
        "scenario.shared[1]": ["–", "/b"],
        "scenario.shared[2]": ["–", "/c"],
        "scenario.hosts[1].name": ["–", "n"],
        "scenario.actors[0].name": ["–", "x"],
    }


def test_a_run_that_was_killed_differs_in_nothing_that_is_unknown(tmp_path: Path) -> None:
    folders = [runs.write_run(tmp_path / name, [], 1, 3, f"a: {name}\n") for name in "ab"]
    (folders[1] / "run.json").unlink()
    assert differences([read_run(folder) for folder in folders])[0] == [("scenario.a", ["a", "b"])]


def test_hostile_names_are_text(tmp_path: Path) -> None:
    job = runs.ran(7, 0.0, 1.0, 6.0, "node0001", state=HOSTILE, name=HOSTILE)
    folder = runs.write_run(tmp_path / "x", [job], 1, scenario=f"name: {json.dumps(HOSTILE)}\n")
    record = json.loads((folder / "run.json").read_text()) | {"failure": HOSTILE, "ended": HOSTILE, "counts": {HOSTILE: 1}}
    (folder / "run.json").write_text(json.dumps(record))
    other = runs.write_run(tmp_path / "<img src=x onerror=alert(3)>", runs.rows(2, 1), 1)
    page = report(tmp_path, folder, other, "--title", HOSTILE, "--figures", tmp_path / "f", "--format", "svg")
    assert "<script>alert" not in page and "<img" not in page.partition('<script type="application/octet-stream"')[0]
    assert HOSTILE in data_of(page)["workloads"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: (path / "run.json").unlink(), "has not ended, or was killed"),
        (lambda path: (path / "jobs.csv").unlink(), "had no jobs"),
        (lambda path: (path / "machines.csv").unlink(), "wait, mean"),
        (lambda path: [path.joinpath(name).unlink() for name in ("run.json", "jobs.csv", "machines.csv")], "process start"),
    ],
)
def test_runs_that_are_not_whole_have_a_page(tmp_path: Path, make: Any, said: str) -> None:
    folder = runs.write_run(tmp_path / "r", runs.rows(5, 2), 2)
    make(folder)
    assert said in report(tmp_path, folder, "--figures", tmp_path / "f", "--format", "png")


@pytest.mark.parametrize(
    ("record", "said"),
    [({"valid": False}, "This run is INVALID"), ({"ended": "interrupted"}, "ended early: interrupted"), ({"failure": "x"}, "")],
)
def test_notes(tmp_path: Path, record: dict[str, Any], said: str) -> None:
    folder = runs.write_run(tmp_path / "r", runs.rows(2, 2), 2)
    (folder / "run.json").write_text(json.dumps(json.loads((folder / "run.json").read_text()) | record))
    assert said in "".join(read_run(folder).notes)


def told(folder: Path, **keys: object) -> Path:
    """More in its run.json."""
    (folder / "run.json").write_text(json.dumps(json.loads((folder / "run.json").read_text()) | keys))
    return folder


def summary_of(page: str) -> dict[str, list[str]]:
    body = page.partition('<section id="summary">')[2].partition("</section>")[0]
    rows = re.findall(r'<tr><th scope="row"[^>]*>([^<]*)</th>(.*?)</tr>', body)
    return {name: re.findall(r"<td>([^<]*?) ?<", cells) for name, cells in rows}


CONTEXT = {"workload": "w", "running": [1, 2], "waiting": [3], "established": True, "reasons": []}


def test_numbers_are_those_of_the_replay(tmp_path: Path) -> None:
    plain = runs.write_run(tmp_path / "plain", runs.rows(30, 4), 4)
    replay = told(runs.write_run(tmp_path / "replay", runs.rows(30, 4), 4), contexts=[CONTEXT])
    page = report(tmp_path, plain, replay)
    assert "<b>replay</b>: Numbers and distributions are of the replay&#39;s 27 jobs; the 3 of its context" in page
    assert summary_of(page)["jobs"] == ["30", "27"]
    data = data_of(page)
    assert len(data["table"]["job"]) == 30 and len(data["table"]["runs"][1]["wait"]) == 30, "the list has them all"
    waits = [row.waiting_time or 0 for row in runs.rows(30, 4)][3:]
    assert read_run(replay).summary["mean_waiting_time"] == pytest.approx(sum(waits) / 27)
    assert data["queue"]["y"][0] == data["queue"]["y"][1]


def test_waits_are_compared_job_by_job(tmp_path: Path) -> None:
    def later(by_s: int) -> list[JobRow]:
        return [
            replace(
                row, starting_time=(row.starting_time or 0) + by_s * (row.job_id % 2), finish_time=(row.finish_time or 0) + by_s
            )
            for row in runs.rows(20, 4, mean_gap_s=100)
        ]

    names = {
        "first": later(0),
        "slow": later(30),
        "quick": runs.rows(20, 4, mean_gap_s=100),
        "other": runs.rows(5, 4, name="o"),
    }
    folders = [runs.write_run(tmp_path / name, rows, 4) for name, rows in names.items()]
    told(folders[1], contexts=[CONTEXT])
    data = data_of(report(tmp_path, *folders, "--figures", tmp_path / "f", "--format", "svg"))
    assert data["changes"]["x"] == [0, 30]
    assert data["changes"]["y"][0] == [None, None], "against itself"
    assert data["changes"]["y"][1] == [round(100 * 9 / 17, 3), 100], "17 jobs of the replay, of which 4, 6, 8 ... 20 are even"
    assert data["changes"]["y"][2] == [100, 100] and data["changes"]["y"][3] == [None, None]
    drawn = (tmp_path / "f/wait-changes.svg").read_text()
    assert "longer than in first" in drawn
    assert data_of(report(tmp_path, folders[0]))["changes"] is None, "alone"
    assert data_of(report(tmp_path, folders[0], folders[3]))["changes"] is None, "nothing in common"


def test_the_steady_window(tmp_path: Path) -> None:
    folder = runs.write_run(tmp_path / "one", runs.rows(100, 4), 4)
    page = report(tmp_path, folder, "--window", "steady")
    submitted = [row.submission_time or 0 for row in runs.rows(100, 4)]
    first, span = submitted[0], submitted[-1] - submitted[0]
    count = sum(first + 0.1 * span <= moment < first + 0.9 * span for moment in submitted)
    assert f"of the {count} jobs submitted in the steady window" in page and summary_of(page)["jobs"] == [str(count)]


def test_users(tmp_path: Path) -> None:
    jobs = [replace(row, user=f"user{row.job_id % 50}" if row.job_id % 7 else "") for row in runs.rows(300, 4)]
    one = runs.write_run(tmp_path / "one", jobs, 4)
    other = runs.write_run(tmp_path / "other", [replace(row, user="root") for row in runs.rows(300, 4)], 4)
    page = report(tmp_path, one, other)
    assert summary_of(page)["users"] == ["50", "1"]
    body = page.partition('<section id="users">')[2].partition("</section>")[0]
    assert body.count("<tr>") == 2 + 40 and "11 more users are left out" in body
    assert re.search(r'scope="row">root</th><td>–</td><td>–</td><td>–</td><td>300</td>', body)
    assert '<section id="users">' not in report(tmp_path, other), "of one alone there is nothing to compare"


def test_jobs_that_never_ran(tmp_path: Path) -> None:
    waiting = [runs.waiting(number, 5.0) for number in range(3)]
    for name, jobs in (("waiting", waiting), ("skipped", [runs.skipped(9)])):
        page = report(tmp_path, runs.write_run(tmp_path / name, jobs, 1), "--figures", tmp_path / "f", "--format", "png")
        assert "it is not known which job ran where" in page


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.rmdir(), "there is no such folder"),
        (lambda path: None, "is not the folder of a run"),
        (lambda path: (path.rmdir(), path.touch()), "is not a folder"),
        (lambda path: (path / "jobs.csv").write_text("submission_time,starting_time\nx,1\n"), "jobs.csv"),
        (lambda path: (path / "run.json").write_text("{"), "run.json: not JSON"),
        (lambda path: (path / "run.json").write_bytes(b"\xff"), "run.json: not JSON"),
        (lambda path: (path / "jobs.csv").write_bytes(b"\xff\xfe"), "jobs.csv"),
        (lambda path: (path / "jobs.csv").touch(), "jobs.csv"),
        (lambda path: [path.joinpath(name).write_text("{}") for name in ("run.json", "machines.csv")], "machines.csv:"),
    ],
)
def test_what_is_no_run_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Any, message: str) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    make(folder)
    assert main(["report", str(folder), "-o", str(tmp_path / "r.html")]) != 0
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "r.html").exists()


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = runs.write_run(tmp_path / "r", runs.rows(2, 1), 1)
    (tmp_path / "file").touch()
    for arguments in (["-o", str(tmp_path)], ["-o", str(tmp_path / "r.html"), "--figures", str(tmp_path / "file")]):
        assert main(["report", str(folder), *arguments]) != 0
        assert capsys.readouterr().err.count("\n") == 1


def test_labels() -> None:
    assert unique_labels([Path("/a/x"), Path("/b/y")]) == ["x", "y"]
    assert unique_labels([Path("/a/1/x"), Path("/b/1/x")]) == ["a/1/x", "b/1/x"]
    assert unique_labels([Path("/a/x"), Path("/a/x")]) == ["x (1)", "x (2)"]
