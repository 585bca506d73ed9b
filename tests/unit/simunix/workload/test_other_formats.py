"""Traces in the formats of Batsim and of sacct: read, written, and what is wrong with them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.workload.formats import batsim, sacct
from simunix.workload.formats.by_name import read_trace
from simunix.workload.statistics import statistics
from tests.unit.simunix.workload.test_traces import DEMO, HERE, written


def test_batsim_example() -> None:
    made = read_trace(HERE / "batsim_example_workload_hpc_seed1_jobs250.json")
    assert len(made.jobs) == 250
    assert made.header["MaxProcs"] == "128"
    first = made.jobs.iloc[0]
    assert (first["job"], first["requested"], first["requested_s"]) == (0, 8, 300)


def test_batsim_profiles() -> None:
    found = read_trace(HERE / "batsim_test_various_profile_types.json").jobs
    assert found["runtime_s"].tolist().count(20.2) == 1  # the one delay; the others take as long as computing takes
    assert found["job"].min() == 1


@pytest.mark.parametrize("version", [4, 5])
def test_batsim_there_and_back(tmp_path: Path, version: int) -> None:
    was = read_trace(HERE / "batsim_test_delays.json")
    batsim.write_workload(tmp_path / "w.json", was, version)
    back = read_trace(tmp_path / "w.json")
    pd.testing.assert_frame_equal(back.jobs, was.jobs)
    profiles = json.loads((tmp_path / "w.json").read_text())["profiles"]
    assert profiles == {"delay_10": {"type": {4: "delay", 5: "DelayProfile"}[version], "delay": 10}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nb_res": 0}, "w.json: nb_res: "),
        ({"jobs": [{"id": 1, "subtime": -1, "res": 1, "profile": "d"}]}, "w.json: jobs.0.subtime: "),
        ({"jobs": [{"id": 1, "subtime": 1, "res": 1, "profile": "x"}]}, "w.json: jobs.0.profile: there is no profile 'x'"),
    ],
)
def test_bad_batsim(tmp_path: Path, change: dict[str, object], message: str) -> None:
    workload = {"nb_res": 4, "jobs": [], "profiles": {"d": {"type": "delay", "delay": 1}}} | change
    with pytest.raises(SimunixError, match=message):
        read_trace(written(tmp_path, json.dumps(workload), "w.json"))
    with pytest.raises(SimunixError, match=r"w.json: .*Batsim"):
        read_trace(written(tmp_path, "{", "w.json"))


VARIOUS = HERE / "batsim_test_various_profile_types.json"


def test_profiles_stay_with_their_jobs(tmp_path: Path) -> None:
    was = json.loads(VARIOUS.read_text())
    assert main(["workload", "cut", str(VARIOUS), str(tmp_path / "cut.json"), "--begin", "1", "--end", "20"]) == 0
    cut = json.loads((tmp_path / "cut.json").read_text())
    wanted = [
        (job["id"], job["profile"]) for job in sorted(was["jobs"], key=lambda job: job["subtime"]) if 1 <= job["subtime"] < 20
    ]
    assert len(wanted) > 3
    kept = [job["profile"] for job in cut["jobs"] if not job["profile"].startswith("delay_")]
    delays = {job["id"] for job in was["jobs"] if was["profiles"][job["profile"]]["type"] in batsim.DELAY_TYPES}
    assert kept == [profile for id, profile in wanted if id not in delays]
    assert {name: cut["profiles"][name] for name in was["profiles"]} == was["profiles"]
    for words in (
        ["shuffle", "cut.json", "b.json"],
        ["merge", "cut.json", "b.json", "-o", "c.json"],
        ["convert", "c.json", "d.json"],
    ):
        assert main(["workload", *(str(tmp_path / word) if word.endswith("json") else word for word in words)]) == 0
    again = json.loads((tmp_path / "d.json").read_text())
    assert len(again["jobs"]) == 2 * len(cut["jobs"]) and again["profiles"] == cut["profiles"]
    batsim.read_workload(tmp_path / "d.json")


def test_profiles_that_cannot_be_scaled_or_merged_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workload", "scale", str(VARIOUS), str(tmp_path / "x.json"), "--times", "2"]) == 2
    assert "whose work has a size of its own; change it in the profile" in capsys.readouterr().err
    other = json.loads(VARIOUS.read_text())
    name = next(name for name, profile in other["profiles"].items() if "cpu" in profile)
    other["profiles"][name]["cpu"] = 1
    (tmp_path / "o.json").write_text(json.dumps(other))
    assert main(["workload", "merge", str(VARIOUS), str(tmp_path / "o.json"), "-o", str(tmp_path / "x.json")]) == 2
    assert f"trace 2: the profile {name!r} is another one in a trace before" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--times", "1e300"], ["--processors", "1e18"], ["--times", "1e14"]])
def test_scaled_beyond_all_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(["workload", "scale", str(DEMO), str(tmp_path / "x.swf"), *words]) == 2
    error = capsys.readouterr().err
    assert "would be out of range; scale by less" in error and error.count("\n") == 1
    assert not (tmp_path / "x.swf").exists()


def test_a_delay_does_not_take_anothers_name(tmp_path: Path) -> None:
    profiles = {"delay_5": {"type": "ParallelTaskHomogeneousProfile", "cpu": 1, "com": 0}, "d": {"type": "delay", "delay": 5}}
    jobs = [{"id": number, "subtime": 0, "res": 1, "profile": name} for number, name in ((1, "delay_5"), (2, "d"))]
    path = written(tmp_path, json.dumps({"nb_res": 1, "jobs": jobs, "profiles": profiles}), "w.json")
    batsim.write_workload(tmp_path / "o.json", read_trace(path))
    made = json.loads((tmp_path / "o.json").read_text())
    assert [job["profile"] for job in made["jobs"]] == ["delay_5", "delay_5_"]
    assert made["profiles"]["delay_5_"] == {"type": "DelayProfile", "delay": 5}


def test_work_that_is_unknown_is_not_none() -> None:
    found = statistics(read_trace(VARIOUS))
    assert found["jobs_of_unknown_work"] == 10 and "work_processor_s" in found
    nothing = read_trace(VARIOUS)
    nothing = replace(nothing, jobs=nothing.jobs[nothing.jobs["runtime_s"] < 0])
    assert not {"work_processor_s", "offered_load", "runtime_s"} & set(statistics(nothing))


SACCT = """JobID|User|Submit|Start|End|TimelimitRaw|AllocCPUS|ReqCPUS|State
12|ann|2024-02-29T12:00:10|2024-02-29T12:00:20|2024-02-29T12:01:20|5|8|8|COMPLETED
12.batch|ann|2024-02-29T12:00:20|2024-02-29T12:00:20|2024-02-29T12:01:20||8|8|COMPLETED
11|bob|2024-02-29T12:00:00|Unknown|Unknown|UNLIMITED|0|4|CANCELLED by 0
13|bob|1709208030|1709208031|1709208032|1|2|2|TIMEOUT
"""


def test_sacct(tmp_path: Path) -> None:
    made = sacct.read_sacct(written(tmp_path, SACCT, "j.sacct"))
    rows = made.jobs[["job", "submit_s", "wait_s", "runtime_s", "allocated", "requested", "requested_s", "status", "user"]]
    assert rows.to_numpy().tolist() == [
        [11, 0, -1, -1, -1, 4, -1, 5, 2],
        [12, 10, 10, 60, 8, 8, 300, 1, 1],
        [13, 30, 1, 1, 2, 2, 60, 0, 2],
    ]
    assert made.header["UnixStartTime"] == "1709208000"


def test_a_submit_line_at_the_end_may_hold_bars(tmp_path: Path) -> None:
    head, *rows = SACCT.strip().split("\n")
    lines = [f"{head}|SubmitLine", *(f"{row}|sbatch --wrap 'a | b'" for row in rows)]
    plain = sacct.read_sacct(written(tmp_path, SACCT, "j.sacct")).jobs
    pd.testing.assert_frame_equal(sacct.read_sacct(written(tmp_path, "\n".join(lines), "k.sacct")).jobs, plain)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SACCT.replace("2024-02-29T12:00:20|2024-02-29T12:01:20|5", "yesterday|x|5"), "j.sacct:2: Start: expected a date"),
        (SACCT.replace("\n13|", "\nx13|"), "j.sacct:5: JobID: expected a job's number, got 'x13'"),
        (SACCT.replace("AllocCPUS", "CPUs"), "j.sacct: column AllocCPUS is missing"),
        ("", "j.sacct: .*expected what sacct -P prints"),
    ],
)
def test_bad_sacct(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SimunixError, match=message):
        read_trace(written(tmp_path, text, "j.sacct"))
