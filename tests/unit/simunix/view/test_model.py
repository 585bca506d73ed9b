"""The browser of the live page gets the whole state, then the changes, each change once."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest
import yaml

from rsg_server.errors import SimunixError
from simunix.launch.plan import PrivateSpec
from simunix.launch.run_directory import RunDirectory
from simunix.results.live_json import LiveCluster, LiveRecord, LiveWorkload, live_cluster, read_live
from simunix.rjms.adapter import ClusterPlan
from simunix.rjms.registry import RJMSS
from simunix.view.actions import Recorded
from simunix.view.files import RunFiles, Tail, faults_of
from simunix.view.model import FAULTS_MOST, Model
from simunix.view.saved import with_actions
from simunix.view.serve import load_finished

HISTORY = """\
ClusterId = 1
ProcId = 0
JobStatus = 4
ExitCode = 0
QDate = 1577836810
JobCurrentStartDate = 1577836820
CompletionDate = 1577836830
*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = "alice" CompletionDate = 1577836830
"""
EVENT = {"at": "60s 500000000ns", "host": "n1", "state": "off"}


def test_a_browser_is_told_each_change_once() -> None:
    model = Model({"name": "x"})
    first, told = model.message(0)
    assert first["facts"] == {"name": "x"} and first["hosts"] == {} and first["jobs"] == []
    model.set_host("a", "on", 3)
    model.set_job("1", lambda job: replace(job, state="RUNNING"))
    message, told = model.message(told)
    assert message["hosts"] == {"a": ["on", 3]} and [job[:3] for job in message["jobs"]] == [["1", "", "RUNNING"]]
    assert "facts" not in message
    model.set_host("a", "on", 3)
    model.set_job("1", lambda job: job)
    message, told = model.message(told)
    assert message["hosts"] == {} and message["jobs"] == []
    model.note_fault({"what": "host_off"})
    for number in range(5):
        model.set_host("a", "on", number)
    message, told = model.message(told)
    assert message["hosts"] == {"a": ["on", 4]} and message["faults"] == [{"what": "host_off"}]
    assert model.message(told)[0]["faults"] == []


def test_faults_are_bounded() -> None:
    model = Model({})
    for number in range(FAULTS_MOST + 5):
        model.note_fault({"number": number})
    assert [fault["number"] for fault in model.message(0)[0]["faults"]] == list(range(5, FAULTS_MOST + 5))


def test_a_file_is_read_by_whole_lines(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "f")
    assert tail.lines() == []
    with (tmp_path / "f").open("w") as file:
        file.write("one\ntw")
        file.flush()
        assert tail.lines() == ["one"]
        file.write("o\n")
        file.flush()
        assert tail.lines() == ["two"]


def test_only_faults_of_the_event_log_are_shown() -> None:
    lines = ['{"t":1500000000,"event":"host_off","host":"n1"}', '{"t":1,"event":"connect","port":"event"}', "", "{"]
    assert list(faults_of(lines)) == [{"at_s": 1.5, "what": "host_off", "host": "n1"}]


def live(folder: Path) -> LiveRecord:
    """A run of one cluster with one workload, as live.json tells it."""
    cluster = LiveCluster(
        name="c",
        rjms="slurm",
        controller="m",
        login="m",
        nodes={"n1": 4},
        records=[["m-jobcomp", "jobcomp"]],
        is_by_line=True,
        diary=["m-log", "log"],
    )
    workload = LiveWorkload(cluster=0, submissions="s.csv", origin_s=10.0, jobs=[(17, 4), (18, 2)])
    record = LiveRecord(
        name="x",
        scenario="x.yaml",
        arguments=[],
        environment={},
        epoch_s=1577836800.0,
        hosts={"m": 1, "n1": 4},
        clusters=[cluster],
        workloads=[workload],
    )
    record.write(folder)
    return record


def test_jobs_are_followed_from_the_files_of_a_run(tmp_path: Path) -> None:
    live(tmp_path)
    model = Model({})
    files = RunFiles(tmp_path, read_live(tmp_path), model)
    files.look()
    (tmp_path / "s.csv").write_text(
        "id,planned_s,submitted_s,exit_code,job_number,message\n17,5.0,5.0,0,1,\n18,6.0,6.0,1,,refused\n"
    )
    (tmp_path / "log").write_text(
        "[2020-01-01T00:00:15.000] _slurm_rpc_submit_batch_job: JobId=1 InitPrio=1 usec=8\n"
        "[2020-01-01T00:00:30.500] sched: Allocate JobId=1 NodeList=n1 #CPUs=4 Partition=batch\n"
    )
    files.look()
    jobs = {job[0]: job for job in model.message(0)[0]["jobs"]}
    assert jobs["1"] == ["1", "17", "RUNNING", 15.0, 30.5, None, "n1", 4]
    assert jobs["trace 18"][:4] == ["trace 18", "18", "REJECTED", 16.0]
    record = (
        "JobId=1 UserId=root(0) GroupId=root(0) Name=swf-17 JobState=COMPLETED Partition=batch TimeLimit=60 "
        "StartTime=2020-01-01T00:00:31 EndTime=2020-01-01T00:01:31 NodeList=n1 NodeCnt=1 ProcCnt=4 WorkDir=/ "
        "SubmitTime=2020-01-01T00:00:15 Account=(null) QOS=(null)\n"
    )
    (tmp_path / "jobcomp").write_text(record)
    files.look()
    jobs = {job[0]: job for job in model.message(0)[0]["jobs"]}
    assert jobs["1"] == ["1", "17", "COMPLETED", 15.0, 31.0, 91.0, "n1", 4]


def test_a_record_is_looked_for_on_each_host_that_may_have_it(tmp_path: Path) -> None:
    """HTCondor's history is a private path of all hosts, and the login host writes it."""
    plan = ClusterPlan(
        rjms=RJMSS["htcondor"],
        name="pool",
        controller="m",
        login="login",
        files=(),
        processes=(),
        private=dict.fromkeys(("m", "login", "n1"), (PrivateSpec("/spool"), PrivateSpec("/log", shared=True))),
        records=("/spool/history", "/log/shared"),
        nodes=("n1",),
        cores=4,
    )
    with RunDirectory.create(tmp_path / "out") as directory:
        cluster = live_cluster(directory, plan, {"m": 1, "login": 1, "n1": 4})
        own = ["hosts/m/files/spool/history", "hosts/login/files/spool/history", "hosts/n1/files/spool/history"]
        assert cluster.records == [own, ["shared/log/shared"]] and cluster.diary == []
        model = Model({})
        LiveRecord(**{**asdict(live(directory.path)), "clusters": [cluster], "workloads": []}).write(directory.path)
        files = RunFiles(directory.path, read_live(directory.path), model)
        history = directory.path / own[1]
        history.parent.mkdir(parents=True)
        history.write_text(HISTORY)
        files.look()
    assert [job[:6] for job in model.message(0)[0]["jobs"]] == [["1", "", "COMPLETED", 10.0, 20.0, 30.0]]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("name: a # why\nhosts: [{name: n1}]", 0),
        ("name: a # why\nevents:\n  - {at: 1s, host: n1, state: off}\nhosts: [{name: n1}]\n", 1),
        ("name: a # why\nevents: [{at: 1s, host: n1, state: off},\n  {at: 2s, host: n1, state: on}]\nhosts: [{name: n1}]\n", 2),
        ("name: a # why\nhosts: [{name: n1}]\nevents:\n- at: 1s\n  host: n1\n  state: off\n", 1),
        ("name: a # why\nhosts: [{name: n1}]\nevents:\n", 0),
    ],
)
def test_actions_are_added_to_a_scenario(text: str, kept: int) -> None:
    saved = with_actions(text, Recorded([EVENT], [{"name": "by-hand-1"}]), "a.yaml", ["--seed", "3"])
    found = yaml.safe_load(saved)
    assert len(found["events"]) == kept + 1 and found["events"][-1] == EVENT
    assert found["processes"] == [{"name": "by-hand-1"}] and found["hosts"] == [{"name": "n1"}]
    assert (
        "# why" in saved and saved.startswith("# a.yaml, with what was done by hand") and "simunix run --seed 3 FILE" in saved
    )


def test_a_section_that_is_no_list_cannot_grow() -> None:
    with pytest.raises(SimunixError, match=r"scenario.yaml: events: expected a list"):
        with_actions("events: {a: 1}\n", Recorded([EVENT]), "a.yaml", [])


def test_an_ended_run_shows_the_jobs_that_had_not_ended(tmp_path: Path) -> None:
    live(tmp_path)
    (tmp_path / "run.json").write_text('{"ended": "time limit", "virtual_s": 100.0}')
    (tmp_path / "log").write_text("[2020-01-01T00:00:30.500] sched: Allocate JobId=1 NodeList=n1 #CPUs=4 Partition=batch\n")
    (tmp_path / "events.jsonl").write_text('{"t":1500000000,"event":"host_off","host":"n1"}\n')
    model = Model({})
    files = RunFiles(tmp_path, read_live(tmp_path), model)
    assert files.tells_starts
    load_finished(tmp_path, model, files)
    message = model.message(0)[0]
    assert [job[:6] for job in message["jobs"]] == [["1", "", "RUNNING", None, 30.5, None]]
    assert (message["status"], message["clock"]["virtual_s"], len(message["faults"])) == ("ended", 100.0, 1)
