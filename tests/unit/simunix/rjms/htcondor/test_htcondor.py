"""HTCondor: the configuration of a pool, the words of condor_submit, where a job's cores are, and its history."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.app.progress import count_marks
from simunix.planning.submitting.submit_plan import submit_plan
from simunix.rjms.adapter import Choice
from simunix.rjms.htcondor import accounting, configuration, layout
from simunix.rjms.htcondor.adapter import HTCONDOR
from simunix.rjms.htcondor.clients import NOBODY, clients_of, submit_command
from simunix.rjms.htcondor.placement import Shape, shape
from simunix.scenario.model import WorkloadSection
from simunix.workload.job import Work
from simunix.workload.population import NO_PEOPLE, population
from tests.needs import needs_root
from tests.unit.simunix.rjms.installations import bare_root, expanded, installed
from tests.unit.simunix.rjms.jobs import job

ROOT_ONLY = needs_root("HTCondor runs jobs as other users: its section is refused without root")
SCENARIO = """
name: s
hosts: [{name: 'm,l', cores: 2}, {name: 'n[1-3]', cores: 4}]
htcondor: {controller: m, login: l, nodes: 'n[1-3]', configuration: {NEGOTIATOR_INTERVAL: 20}}
"""
USER = "condor:x:100:101::/:/bin/sh"
NODES = (4, 4, 4)
POOL = configuration.Pool(name="p", controller="m", login="l", nodes=frozenset({"n1", "l"}), changes={"A": "b c"})
AD = """ClusterId = {number}
ProcId = {index}
JobBatchName = "swf-7"
JobStatus = {status}
QDate = 100
JobCurrentStartDate = {start}
CompletionDate = {end}
LastRemoteWallClockTime = {lasted}
EnteredCurrentStatus = 500
RequestCpus = 4
MaxHosts = {slots}
TotalSubmitProcs = {processes}
AllowedJobDuration = 160
Owner = "alice"
LastRemoteHost = "slot1_2@n1"
{rest}
*** Offset = 0 ClusterId = {number} ProcId = {index} Owner = "alice" CompletionDate = {end}
"""
USUAL = {"number": 12, "index": 0, "status": 4, "start": 110, "end": 170, "lasted": "60.0", "slots": 1, "processes": 1}


@pytest.fixture
def with_programs(tmp_path: Path) -> Path:
    """A root file system with HTCondor's programs, which are not run, and its user."""
    bare_root(tmp_path / "bare", USER)
    version = "\0$CondorVersion: 23.9.6 2026-07-12 PackageID: 23.9.6+dfsg $\0"
    return installed(tmp_path / "root", HTCONDOR.programs, USER, content=version)


def test_a_pools_configuration() -> None:
    assert [POOL.roles(host) for host in ("m", "l", "n1")] == [("CentralManager",), ("Submit", "Execute"), ("Execute",)]
    lines = configuration.pool_config(POOL, "l").splitlines()
    assert lines[:3] == ["CONDOR_HOST = m", "use ROLE:Submit", "use ROLE:Execute"] and lines[-1] == "A = b c"
    assert 'DedicatedScheduler = "DedicatedScheduler@l"' in lines
    assert configuration.pool_key(1) == configuration.pool_key(1) != configuration.pool_key(2)


def test_parameters_of_a_scenario() -> None:
    given = configuration.changes_of({"NEGOTIATOR_INTERVAL": 20, "NODE.START": "True", "X": True}, "htcondor.configuration")
    assert given == {"NEGOTIATOR_INTERVAL": "20", "NODE.START": "True", "X": "True"}
    with pytest.raises(SimunixError, match=r"^htcondor\.configuration: 'a b' is no name of a parameter"):
        configuration.changes_of({"a b": 1}, "htcondor.configuration")
    with pytest.raises(SimunixError, match=r"^htcondor\.configuration\.X: a parameter is one line"):
        configuration.changes_of({"X": "1\nY = 2"}, "htcondor.configuration")


@ROOT_ONLY
def test_daemons_and_paths(tmp_path: Path, with_programs: Path) -> None:
    plan = expanded(tmp_path, f"{SCENARIO}root: {with_programs}\n").plan
    assert [(each.name, each.host) for each in plan.processes] == [
        ("condor_master", host) for host in ("m", "l", "n1", "n2", "n3")
    ]
    texts = {file.host: file.content for file in plan.files if file.path == layout.POOL}
    assert all(text.endswith(b"\nNEGOTIATOR_INTERVAL = 20\n") for text in texts.values()) and len(texts) == 5
    paths = {spec.path: spec for spec in next(host for host in plan.hosts if host.name == "l").private}
    assert paths[layout.ETC].copied and paths[layout.SPOOL].owner == "condor"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("htcondor.controller=x", r"htcondor: host 'x' is not among the hosts of the scenario; known: m,l,n\[1-3\]$"),
        ("root=bare", r"htcondor: no /usr/sbin/condor_master in the root /.*/bare; make it with condor python3$"),
        pytest.param(
            "htcondor.configuration={'a b': 1}", r"htcondor\.configuration: 'a b' is no name of a parameter", marks=ROOT_ONLY
        ),
    ],
)
def test_what_does_not_fit(tmp_path: Path, with_programs: Path, setting: str, message: str) -> None:
    with pytest.raises(SimunixError, match=message):
        expanded(tmp_path, f"{SCENARIO}root: {with_programs}\n", setting)


@pytest.mark.parametrize(
    ("cores", "nodes", "found"),
    [
        (4, NODES, Shape(1, 4)),
        (5, NODES, Shape(2, 3)),
        (12, NODES, Shape(3, 4)),
        (17, (16, 16), Shape(2, 9)),
        (20, (4, 4, 4, 16), Shape(5, 4)),
        (256, (16,) * 16, Shape(16, 16)),
    ],
)
def test_cores_of_a_job_become_equal_slots(cores: int, nodes: tuple[int, ...], found: Shape) -> None:
    assert shape(cores, nodes, "job 7") == found


def test_a_job_larger_than_the_pool() -> None:
    with pytest.raises(SimunixError, match=r"^job 7: 13 cores, but all nodes together have 12$"):
        shape(13, NODES, "job 7")


def test_words_of_condor_submit() -> None:
    begin = ("condor_submit", "-terse", "batch_name=swf-7")
    sleep = ("executable=/bin/sleep", "arguments=60", "transfer_executable=False")
    limit = ("allowed_job_duration=160", "periodic_remove=HoldReasonCode == 46")
    end = ("-queue", "$(count:1)")
    assert submit_command(NODES, job(cores=2)) == (*begin, "request_cpus=2", *sleep, *limit, *end)
    parallel = ("universe=parallel", "machine_count=3", "request_cpus=4", "-append", "+TraceJob=7")
    assert submit_command(NODES, job(cores=12, requested_s=math.inf)) == (*begin, *parallel, *sleep, *end)
    choice = Choice("condor_submit", account="physics", nice=100, is_held=True, arguments=("request_memory=1GB",))
    chosen = ("accounting_group=physics", "priority=-100", "hold=True", "request_memory=1GB")
    assert submit_command(NODES, job(requested_s=math.inf), choice) == (*begin, "request_cpus=1", *sleep, *chosen, *end)
    assert clients_of(NODES).array(40) == ("count=40",)


@pytest.mark.parametrize(
    ("choice", "word"), [(Choice("c", partition="long"), "partition 'long'"), (Choice("c", qos="q"), "qos 'q'")]
)
def test_what_htcondor_has_not(choice: Choice, word: str) -> None:
    with pytest.raises(SimunixError, match=rf"^job 7: {word}: HTCondor has none; say what the job needs as arguments$"):
        submit_command(NODES, job(), choice)


def test_ranks_start_on_one_node() -> None:
    words = submit_command(NODES, job(cores=3, work=Work("p", "/shared/script", 3, "/shared/log")))
    assert "executable=/shared/script" in words and "output=/shared/log" in words and "request_cpus=3" in words
    with pytest.raises(SimunixError, match=r"^job 7: it has 8 ranks on 2 nodes, and HTCondor starts no ranks on several nodes"):
        submit_command(NODES, job(cores=8, work=Work("p", "/shared/script", 8, "/shared/log")))


def test_nobody_submits_what_root_would() -> None:
    section = WorkloadSection.model_validate({"trace": "t.swf", "users": "trace"})
    jobs = [job(user=3), job()]
    content = submit_plan(section, "workload", jobs, clients_of(NODES), population(jobs)).content
    assert [entry["user"] for entry in content["jobs"]] == [0, 1]
    assert [user["name"] for user in content["users"]] == ["user3", "nobody"] and content["users"][1]["uid"] == NOBODY.uid


def test_a_dependency_is_refused() -> None:
    section = WorkloadSection.model_validate({"trace": "t.swf", "dependencies": "slurm"})
    with pytest.raises(
        SimunixError, match=r"^workload\.dependencies: condor_submit cannot let a job wait for another; use think"
    ):
        submit_plan(section, "workload", [job()], clients_of(NODES), NO_PEOPLE)


def record(rest: str = "", **changes: object) -> str:
    return AD.format(**{**USUAL, **changes, "rest": rest})


@pytest.mark.parametrize(
    ("rest", "changes", "state", "end_s"),
    [
        ("ExitCode = 0", {}, "COMPLETED", 170),
        ("ExitCode = 3", {}, "FAILED", 170),
        ("ExitBySignal = true", {}, "FAILED", 170),
        ("LastHoldReasonCode = 46", {"status": 3, "end": "undefined", "lasted": "161.0"}, "TIMEOUT", 271),
        ("LastHoldReasonCode = 1", {"status": 3, "end": "undefined", "lasted": "20.0"}, "CANCELLED", 130),
    ],
)
def test_states(rest: str, changes: dict[str, object], state: str, end_s: float) -> None:
    (done,) = accounting.parse(record(rest, **changes).splitlines()).values()
    assert (done.state, done.end_s, done.number, done.name, done.user) == (state, end_s, 12, "swf-7", "alice")
    assert (done.submit_s, done.start_s, done.limit_s, done.nodes, done.cores) == (100, 110, 160, "n1", 4)


def test_elements_of_arrays_and_hosts_of_parallel_jobs() -> None:
    text = record(index=2, processes=3) + record(
        'AllRemoteHosts = "slot1_1@n2,slot1@n3"\nAcctGroup = "physics"', number=13, slots=2
    )
    found = accounting.parse(text.splitlines())
    assert found["12_2"].element == "12_2"
    assert (found["13"].nodes, found["13"].cores, found["13"].account) == ("n2,n3", 8, "physics")


def test_a_job_that_never_started_and_a_record_without_an_end() -> None:
    removed = record(status=3, start="undefined", end="undefined", lasted="undefined").replace("LastRemoteHost", "Other")
    (done,) = accounting.parse([*removed.splitlines(), *record(number=13).splitlines()[:-1]]).values()
    assert (done.number, done.state, done.start_s, done.nodes, done.end_s) == (12, "CANCELLED", None, "", 500)


def test_ended_jobs_are_counted_by_their_mark(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_text((record("x" * (1 << 16)) + record()) * 3)
    assert count_marks(file, b"\n*** ") == 6
    assert count_marks(tmp_path / "none", b"\n") == 0


def test_version(tmp_path: Path, with_programs: Path) -> None:
    from simunix.roots.tree import RootTree

    assert HTCONDOR.version(RootTree(with_programs)) == "23.9.6"
    assert HTCONDOR.version(RootTree(tmp_path / "bare")) is None
