"""The plan of submissions that follows from a workload's section: options, arrays, users, accounts, and refused values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from rsg_server.errors import SimunixError
from simunix.planning.expand import expand
from simunix.planning.submitting.submit_plan import SubmitPlan, submit_plan
from simunix.rjms.scenario import load
from simunix.rjms.slurm.accounting import parse_jobcomp
from simunix.rjms.slurm.accounts import account_commands
from simunix.rjms.slurm.clients import CLIENTS
from simunix.scenario.model import WorkloadSection
from simunix.workload.job import Job
from simunix.workload.population import NO_PEOPLE, Population, population
from simunix.workload.transforms.context import Context
from tests.conftest import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["nasa-ipsc", "curie"])
def test_the_log_of_a_run_is_the_same_wherever_simunix_is_installed(scenario: str) -> None:
    path = ROOT / "scenarios" / f"{scenario}.yaml"
    words = [word for process in expand(load(path), path.parent, checked=False).plan.processes for word in process.argv]
    assert len(words) > 40
    assert not [word for word in words if word.startswith("/") and not word.startswith(("/usr/", "/var/spool/", "/bin/"))]


def section(text: str) -> WorkloadSection:
    return WorkloadSection.model_validate({"trace": "t.swf", **(yaml.safe_load(text) or {})})


def job(number: int, submit_s: float = 0, **others: Any) -> Job:
    return Job(number, submit_s, 10, 60, 4, **others)


def planned(text: str, jobs: list[Job], people: Population = NO_PEOPLE) -> SubmitPlan:
    return submit_plan(section(text), "workload", jobs, CLIENTS, people)


def entries(text: str, jobs: list[Job], people: Population = NO_PEOPLE) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = planned(text, jobs, people).content["jobs"]
    return found


PLAIN = ("sbatch", "--parsable", "--job-name=swf-1", "--ntasks=4", "--time=2", "--output=/dev/null", "--wrap=exec sleep 10")


def test_nothing_asked_nothing_said() -> None:
    plan = planned("", [job(1, user=3, group=4, queue=1, partition=2, preceding=1)])
    assert plan.content == {"number": CLIENTS.number, "poll": CLIENTS.queue, "jobs": [{"id": 1, "at": 0, "argv": PLAIN}]}
    assert (plan.accounts, plan.associations, plan.qos) == ((), {}, ())


def options_of(text: str, **fields: int) -> list[str]:
    (entry,) = entries(text, [job(1, **fields)])
    return [word for word in entry["argv"] if word not in PLAIN]


def test_later_options_win_and_arguments_add_up() -> None:
    text = """
    partitions: {1: batch, 2: {partition: big, arguments: [--exclusive]}}
    queues: {7: {qos: high, nice: 5}}
    options:
      - {users: '1-3,9', nice: -2, arguments: ['--mem=1G']}
      - {users: 2, jobs: [5], priority: 7}
      - {cores: 4, account: x}
    """
    assert options_of(text, partition=1) == ["--partition=batch", "--account=x"]
    assert options_of(text, partition=2, queue=7, user=2) == [
        "--partition=big", "--qos=high", "--account=x", "--nice=-2", "--exclusive", "--mem=1G",
    ]  # fmt: skip
    assert options_of("options: [{users: 9, hold: 1min}]", user=9) == ["--hold"]


def test_a_hold_is_released() -> None:
    plan = planned("options: [{hold: 90s}]", [job(1)])
    assert plan.content["jobs"][0]["hold"] == 90
    assert plan.content["release"] == ("scontrol", "release", "{}")


def test_the_waiting_jobs_of_a_context_are_held_and_its_jobs_in_no_array() -> None:
    """They are found again by their names, which the elements of an array have not."""
    context = Context(begin_s=9, settle_s=5, running=(1,), waiting=(2, 3))
    jobs = [job(number) for number in (1, 2, 3, 4, 5)]
    plan = submit_plan(section("arrays: bursts"), "workload", jobs, CLIENTS, NO_PEOPLE, context)
    assert [("--hold" in entry["argv"], entry.get("array")) for entry in plan.content["jobs"]] == [
        (False, None), (True, None), (True, None), (False, [4, 5]),
    ]  # fmt: skip
    assert "release" not in plan.content  # not the submitter does it


def test_srun_is_the_same_without_a_shell() -> None:
    (entry,) = entries("client: srun", [job(1)])
    assert entry["argv"] == ("srun", "--job-name=swf-1", "--ntasks=4", "--time=2", "--output=/dev/null", "sleep", "10")
    assert entry["stays"] is True


def test_equal_jobs_of_one_moment_are_an_array() -> None:
    jobs = [job(1), job(2, user=5), job(3), job(4, 1.0), job(5), Job(6, 0, 11, 60, 4)]
    found = entries("arrays: bursts", jobs)
    assert [(entry["id"], entry.get("array")) for entry in found] == [(1, [1, 2, 3, 5]), (4, None), (6, None)]
    assert found[0]["argv"][:3] == ("sbatch", "--array=0-3", "--parsable")
    apart = entries("{arrays: bursts, users: trace}", jobs, population(jobs))
    assert [entry.get("array") for entry in apart] == [[1, 3, 5], None, None, None]
    many = entries("arrays: bursts", [job(number) for number in range(1, 2203)])
    assert [len(entry["array"]) for entry in many] == [1000, 1000, 202]


def test_dependencies_in_three_ways() -> None:
    jobs = [job(1), job(2, 5, preceding=1, think_s=30)]
    assert "after" not in entries("", jobs)[1]
    plan = planned("dependencies: think_time", jobs).content
    assert (plan["groups"], plan["jobs"][1]["after"], plan["poll_interval"]) == (((1,),), (0, 30.0), 5)
    plan = planned("dependencies: rjms", jobs).content
    assert (plan["jobs"][1]["needs"], plan["after"]) == (1, ("--dependency=afterany:{}",))
    fed = planned("feedback: user", [job(1, user=1, wait_s=0), job(2, 100, user=1, wait_s=0)]).content
    assert fed["jobs"][1]["after"] == (0, 90.0)


def test_accounts_are_those_of_users_and_groups() -> None:
    jobs = [job(1, user=3, group=1), job(2, user=3, group=2), job(3, user=5), job(4, user=-1, group=2)]
    plan = planned("{users: trace, accounts: trace, options: [{jobs: 2, qos: high}]}", jobs, population(jobs))
    assert plan.associations == {"user3": ("group1", "group2"), "user5": ("trace",), "root": ("group2",)}
    assert plan.accounts == ("group1", "group2", "trace")
    assert "--account=group2" in plan.content["jobs"][1]["argv"]
    assert plan.content["users"][0] == {"name": "user3", "uid": 100_000, "groups": (100_000, 100_001)}
    assert account_commands(plan.accounts, plan.associations, plan.qos) == [
        "modify account root set QosLevel+=high",
        "add account group1,group2,trace Description=trace Organization=trace",
        "add user user3 Account=group1,group2 DefaultAccount=group1",
        "add user user5 Account=trace DefaultAccount=trace",
        "add user root Account=group2",
    ]


def test_accounts_of_a_rule_are_the_scenarios_own() -> None:
    jobs = [job(1, user=3), job(2, user=3)]
    plan = planned("{users: trace, options: [{jobs: 1, account: physics}]}", jobs, population(jobs))
    assert (plan.accounts, plan.associations) == (("trace",), {"user3": ("trace", "physics")})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("client: qsub", "workload.client: 'qsub' submits no jobs here; known: sbatch, srun"),
        ("{client: srun, dependencies: rjms}", "srun prints no job number, which dependencies: rjms needs; use sbatch"),
        ("{client: srun, arrays: bursts}", "srun prints no job number, which arrays: bursts needs"),
        ("{client: srun, options: [{hold: 1s}]}", "srun prints no job number, which hold needs"),
    ],
)
def test_what_a_client_cannot_do(text: str, words: str) -> None:
    with pytest.raises(SimunixError, match=words):
        planned(text, [job(1)])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{feedback: user, dependencies: rjms}", "feedback and dependencies both decide when"),
        ("options: [{users: '3-1'}]", "expected numbers such as"),
        ("options: [{users: x}]", "expected numbers such as"),
        ("options: [{users: 2.5}]", "expected numbers such as"),
        ("poll_interval: 0", "greater than 0"),
        ("queues: {x: batch}", "valid integer"),
    ],
)
def test_bad_keys_are_refused(text: str, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        section(text)


def test_a_bad_key_is_found_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("hosts: [{name: a}]\nworkload:\n  trace: t.swf\n  options:\n    - {user: 3}\n")
    with pytest.raises(SimunixError, match=r"s\.yaml:5: workload\.options\[0\]\.user: unknown key; did you mean 'users'\?"):
        load(file)


def test_elements_of_arrays_in_jobcomp() -> None:
    line = (
        "JobId=5 UserId=u(1) GroupId=g(1) Name=swf-7 JobState=COMPLETED Partition=b TimeLimit=2 "
        "StartTime=2000-01-01T00:00:31 EndTime=2000-01-01T00:00:51 NodeList=n1 NodeCnt=1 ProcCnt=2 WorkDir=/ "
        "SubmitTime=2000-01-01T00:00:18 EligibleTime=2000-01-01T00:00:20 {} DerivedExitCode=0:0 ExitCode=0:0 "
    )
    assert list(parse_jobcomp([line.format("ArrayJobId=4 ArrayTaskId=0"), line.format("")])) == ["4_0", "5"]


def test_the_guides_example_is_a_workload() -> None:
    text = (ROOT / "docs/guide/submitting.md").read_text().partition("```yaml\n")[2].partition("```")[0]
    found = WorkloadSection.model_validate(yaml.safe_load(text)["workload"])
    assert found.options_of(job(17, user=3, partition=2)).hold == 600 * 10**9
