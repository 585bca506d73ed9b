"""The plan that follows from a job table: commands of sbatch, groups of jobs, factors of run times, and refused values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import yaml

from rsg_server.errors import SimunixError
from simunix.planning.submitting.submit_plan import SubmitPlan, submit_plan
from simunix.planning.submitting.table_plan import factor_file, factors_of, on_plain_nodes
from simunix.rjms.gridengine.clients import CLIENTS as GRID_ENGINE
from simunix.rjms.slurm.clients import CLIENTS
from simunix.scenario.model import WorkloadSection
from simunix.workload.job import Job
from simunix.workload.population import NO_PEOPLE, Population, population
from simunix.workload.request import Request, Step


def job(number: int, runtime_s: float = 10, cores: int = 4, submit_s: float = 0, **said: Any) -> Job:
    request = Request(**{"number": number, **said})
    limit_s = math.inf if request.limit_s is None else request.limit_s
    return Job(100 + number, submit_s, runtime_s, limit_s, cores, request=request)


def planned(jobs: list[Job], text: str = "", people: Population = NO_PEOPLE, **others: Any) -> SubmitPlan:
    section = WorkloadSection.model_validate({"trace": "t.csv", **(yaml.safe_load(text) or {})})
    return submit_plan(section, "workload", jobs, CLIENTS, people, **others)


def argv(*jobs: Job, text: str = "", factors: str = "") -> list[str]:
    return list(planned(list(jobs), text, factors=factors).content["jobs"][0]["argv"])


def words(**said: Any) -> list[str]:
    """What a request adds to the shortest command."""
    shortest = argv(job(1))
    return [word for word in argv(job(1, **said)) if word not in shortest]


def test_the_shortest_command_says_nothing_of_limits() -> None:
    wrap = "--wrap=exec sleep 10"
    assert argv(job(1)) == ["sbatch", "--parsable", "--job-name=swf-101", "--ntasks=4", "--output=/dev/null", wrap]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"limit_s": 90.0}, ["--time=1:30"]),
        ({"limit_s": math.inf, "least_limit_s": 3600.0}, ["--time=UNLIMITED", "--time-min=60:00"]),
        ({"partition": "a,b", "account": "phys", "qos": "high"}, ["--partition=a,b", "--account=phys", "--qos=high"]),
        (
            {"constraints": "a100&ib", "reservation": "r", "licenses": "m:2"},
            ["--constraint=a100&ib", "--reservation=r", "--licenses=m:2"],
        ),
        ({"nodes": "2-4", "tasks": 8, "tasks_per_node": 4}, ["--nodes=2-4", "--ntasks=8", "--ntasks-per-node=4"]),
        ({"cpus_per_task": 2}, ["--ntasks=2", "--cpus-per-task=2"]),
        ({"memory": "4G"}, ["--mem=4G"]),
        ({"memory": "512Mc"}, ["--mem-per-cpu=512M"]),
        ({"gres": "gpu:a100:2", "tres": "cpu=4,gres/gpu=4"}, ["--gres=gpu:a100:2"]),
        ({"tres": "cpu=4,gres/gpu:a100=2,gres/gpu=2"}, ["--gpus=a100:2"]),
        ({"tres": "cpu=4,gres/gpu=3"}, ["--gpus=3"]),
        ({"nice": -5, "begin_s": 59.5, "requeue": False}, ["--nice=-5", "--begin=now+60seconds", "--no-requeue"]),
        ({"exclusive": "user", "requeue": True}, ["--exclusive=user", "--requeue"]),
        ({"hold_s": math.inf, "arguments": ("--comment", "a b")}, ["--hold", "--comment", "a b"]),
        ({"exit_code": "3:0"}, ["--wrap=sleep 10\nexit 3"]),
        ({"exit_code": "0:9", "state": "FAILED"}, ["--wrap=sleep 10\nkill -9 $$"]),
        ({"state": "FAILED"}, ["--wrap=sleep 10\nexit 1"]),
        ({"state": "TIMEOUT", "limit_s": 60.0}, ["--time=1:00", "--wrap=exec sleep infinity"]),
        ({"state": "TIMEOUT"}, []),  # without a limit it would never end
        ({"steps": (Step(5, 3, 2),)}, ["--wrap=(sleep 5; srun --ntasks=2 --overlap --input=none sleep 3) &\nsleep 10"]),
    ],
)
def test_what_sbatch_is_told(said: dict[str, Any], expected: list[str]) -> None:
    assert words(**said) == expected


def test_the_scenario_has_the_last_word() -> None:
    found = argv(job(1, partition="a"), text="{options: [{jobs: 101, partition: b}]}")
    assert [word for word in found if word.startswith("--partition")] == ["--partition=a", "--partition=b"]


def test_elements_of_an_array_are_one_command_with_their_own_ends() -> None:
    rows = [job(7, 10, element=1), job(7, 20, element=2), job(7, 10, element=9, exit_code="2:0"), job(8, element=1, nice=3)]
    rows = [replace(row, id=index) for index, row in enumerate(rows)]
    limited = [replace(row, request=replace(row.request, array="%2")) for row in rows[:3] if row.request]
    first, second = planned([*limited, rows[3]]).content["jobs"]
    assert (first["array"], first["indices"], first["key"]) == ([0, 1, 2], [1, 2, 9], 7)
    assert first["argv"][2] == "--array=1-2,9%2"
    script = "case $SLURM_ARRAY_TASK_ID in\n1) exec sleep 10;;\n2) exec sleep 20;;\n9) sleep 10\nexit 2;;\nesac"
    assert first["argv"][-1] == f"--wrap={script}"
    assert (second["array"], second["indices"]) == ([3], [1])


def test_components_are_one_command() -> None:
    entry = planned([job(7, component=0), job(7, cores=1, component=1)]).content["jobs"][0]
    assert entry["argv"][2:7] == ("--job-name=swf-107", "--ntasks=4", ":", "--job-name=swf-107", "--ntasks=1")
    assert entry["components"] == [107, 107]


def test_dependencies_holds_and_cancellations_are_the_submitter_s() -> None:
    plan = planned(
        [
            job(7),
            job(8, dependency="afterok:7_2:7,singleton", hold_s=60.0),
            job(9, dependency="after:7+5?afterany:8", cancel_s=5.0),
        ]
    )
    _, second, third = plan.content["jobs"]
    parts = [{"head": "afterok:", "items": [[7, "{}_2"], [7, "{}"]]}, {"head": "singleton", "items": []}]
    assert second["clauses"] == {"option": "--dependency={}", "joint": ",", "parts": parts}
    assert (second["hold"], third["cancel"], third["clauses"]["joint"]) == (60.0, 5.0, "?")
    assert third["clauses"]["parts"][0]["items"] == [[7, "{}+5"]]
    assert plan.content["release"] == ("scontrol", "release", "{}")
    assert plan.content["cancel"] == ("scancel", "--state=PENDING", "{}")


def test_users_and_accounts_are_those_of_the_table() -> None:
    rows = [job(1, user="eve", group="staff", account="phys"), job(2, user="adam"), job(3, user="root")]
    people = population(rows)
    assert {name: len(user.groups) for name, user in people.users.items()} == {"adam": 1, "eve": 1}
    plan = planned(rows, "{users: trace}", people)
    assert [entry.get("user") for entry in plan.content["jobs"]] == [1, 0, None]
    assert (plan.accounts, plan.associations) == ((), {})  # the site's own database has them
    made = planned(rows, "{users: trace, accounts: trace}", people)
    assert made.associations == {"eve": ("phys",), "adam": ("trace",)}
    assert set(made.accounts) == {"phys", "trace"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{client: srun}", "workload.client: srun submits no job table; use sbatch"),
        ("{arrays: bursts}", "workload.arrays: a job table says itself"),
        ("{dependencies: slurm}", "workload.dependencies: a job table has a column Dependency"),
    ],
)
def test_what_does_not_go_with_a_table_is_refused(text: str, message: str) -> None:
    with pytest.raises(SimunixError, match=message):
        planned([job(1)], text)


def test_another_rjms_is_not_told_half_of_a_table() -> None:
    section = WorkloadSection.model_validate({"trace": "t.csv"})
    with pytest.raises(SimunixError, match="this RJMS has no options for the columns of a job table"):
        submit_plan(section, "workload", [job(1)], GRID_ENGINE, NO_PEOPLE)


def test_a_circle_of_dependencies_is_refused() -> None:
    with pytest.raises(SimunixError, match=r"workload.trace: job \d: its dependencies form a circle"):
        planned([job(1, dependency="afterok:3"), job(2, dependency="afterok:1"), job(3, dependency="afterany:2")])


def test_run_times_depend_on_where_jobs_run() -> None:
    features = {"n1": ("fast", "gpu"), "n2": ("slow",)}
    factors = factors_of(features, ["n1", "n2", "n3"], {"fast": 0.5, "slow": 2, "gpu": 1}, "workload")
    assert factors == {"n1": 0.5, "n2": 2, "n3": 1.0}
    assert factor_file(factors) == b"n1 500\nn2 2000\nn3 1000\n"
    assert [on_plain_nodes(job(1, 10), factors, nodes).runtime_s for nodes in (["n1"], ["n1", "n2"], [], ["x"])] == [
        20,
        5,
        10,
        10,
    ]
    assert "/factors -" in argv(job(1), factors="/factors")[-1]
    with pytest.raises(SimunixError, match=r"workload.factors.new: no node has this feature; known: fast, gpu, slow"):
        factors_of(features, ["n1"], {"new": 2}, "workload")
