"""Grid Engine: the files of a cell, the words of qsub, and its accounting."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.rjms.adapter import Choice
from simunix.rjms.gridengine import accounting, configuration, layout
from simunix.rjms.gridengine.adapter import GRIDENGINE
from simunix.rjms.gridengine.clients import CLIENTS, submit_command
from simunix.workload.job import Work
from tests.needs import needs_root
from tests.unit.simunix.rjms.installations import bare_root, expanded, installed
from tests.unit.simunix.rjms.jobs import job

ROOT_ONLY = needs_root("Grid Engine runs jobs as other users: its section is refused without root")
SCENARIO = """
name: s
hosts: [{name: 'm,l', cores: 2}, {name: 'n[1-3]', cores: 4}, {name: big, cores: 16}]
gridengine: {controller: m, login: l, nodes: 'n[1-3],big', scheduler: {schedule_interval: '0:0:2'}}
"""
USER = "sgeadmin:x:107:107::/:/bin/sh"
LINE = (
    "all.q:n1:alice:alice:swf-7:12:{account}:0:100:{start}:{end}:{failed}:{exit}:60:0.0:0.0:5040.0:0:0:0:0:0:0:0:0.0:0:0:0:0:0:0:NONE:"
    "defaultdepartment:{pe}:{slots}:{task}:0.0:0.0:0.00:{category}:0.0:NONE:925696.0:0:0"
)
USUAL = {"account": "sge", "start": 110, "end": 170, "failed": 0, "exit": 0, "pe": "NONE", "slots": 1, "task": 0}


@pytest.fixture
def with_programs(tmp_path: Path) -> Path:
    """A root file system with Grid Engine's programs, which are not run, and its administrator."""
    bare_root(tmp_path / "bare", USER)
    return installed(tmp_path / "root", GRIDENGINE.programs, USER, content="Son of Grid Engine\0\0008.1.9\0")


def test_a_cell_from_a_platform() -> None:
    cell = configuration.Cell(
        controller="m",
        submitters=("l", "m"),
        slots={"n1": 4, "n2": 4, "big": 16},
        queue="all.q",
        scheduler=configuration.SCHEDULER,
        configuration=configuration.CONFIGURATION,
    )
    files = {path.removeprefix(layout.MASTER_SPOOL + "/"): text for path, text in configuration.master_files(cell).items()}
    assert "\nslots 4,[big=16]\n" in files["cqueues/all.q"]
    assert files["hostgroups/@allhosts"] == "group_name @allhosts\nhostlist n1 n2 big\n"
    assert {name for name in files if name.startswith("admin_hosts/")} == {
        f"admin_hosts/{name}" for name in ("m", "n1", "n2", "big")
    }
    assert {"submit_hosts/l", "exec_hosts/n2", "qinstances/all.q/big", "pe/mpi", "pe/nodes"} <= set(files)
    assert configuration.shared_files(cell)[f"{layout.COMMON}/act_qmaster"] == "m\n"


def test_parameters_of_a_scenario_replace_defaults() -> None:
    new = configuration.changed(configuration.SCHEDULER, {"flush_submit_sec": 1}, "gridengine.scheduler")
    assert new["flush_submit_sec"] == "1" and list(new) == list(configuration.SCHEDULER)
    with pytest.raises(SimunixError, match=r"^gridengine\.scheduler\.interval: no such parameter; known: algorithm, "):
        configuration.changed(configuration.SCHEDULER, {"interval": 1}, "gridengine.scheduler")


@ROOT_ONLY
def test_daemons_and_paths(tmp_path: Path, with_programs: Path) -> None:
    plan = expanded(tmp_path, f"{SCENARIO}root: {with_programs}\n").plan
    assert [(each.name, each.host) for each in plan.processes] == [
        ("qmaster", "m"),
        *(("execd", name) for name in ("n1", "n2", "n3", "big")),
    ]
    cells = [spec for host in plan.hosts for spec in host.private if spec.path == layout.CELL]
    assert len(cells) == 6 and all(spec.shared for spec in cells)
    scheduler = next(file for file in plan.files if file.path.endswith("sched_configuration"))
    assert b"\nschedule_interval 0:0:2\n" in scheduler.content


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("gridengine.controller=x", r"gridengine: host 'x' is not among the hosts of the scenario; known: m,l,n\[1-3\],big$"),
        (
            "root=bare",
            r"gridengine: not installed in the root /.*/bare: gridengine-client, gridengine-exec, gridengine-master; make",
        ),
        pytest.param(
            "gridengine.configuration.shepherd=x",
            r"gridengine\.configuration\.shepherd: no such parameter; known: ",
            marks=ROOT_ONLY,
        ),
    ],
)
def test_what_does_not_fit(tmp_path: Path, with_programs: Path, setting: str, message: str) -> None:
    with pytest.raises(SimunixError, match=message):
        expanded(tmp_path, f"{SCENARIO}root: {with_programs}\n", setting)


def test_words_of_qsub() -> None:
    begin = ("qsub", "-terse", "-b", "y", "-shell", "n", "-N", "swf-7")
    end = ("-o", "/dev/null", "-e", "/dev/null", "/bin/sleep", "60")
    assert submit_command(job()) == (*begin, "-l", "h_rt=160", *end)
    assert submit_command(job(cores=5, requested_s=math.inf)) == (*begin, "-pe", "mpi", "5", *end)
    choice = Choice("qsub", partition="long.q", account="physics", nice=100, is_held=True, arguments=("-R", "y"))
    chosen = ("-q", "long.q", "-A", "physics", "-p", "-100", "-h", "-R", "y")
    assert submit_command(job(requested_s=math.inf), choice) == (*begin, *chosen, *end)
    assert CLIENTS.array(40) == ("-t", "1-40")


def test_ranks_get_slots_or_nodes() -> None:
    work = Work("p", "/shared/script", 3, "/shared/log", on_nodes=True)
    words = submit_command(job(cores=12, work=work))
    assert words[8:12] == ("-pe", "nodes", "3", "-l") and words[12] == "exclusive=TRUE"
    assert words[-5:] == ("-j", "y", "-o", "/shared/log", "/shared/script")


def record(**changes: object) -> str:
    return LINE.format(**{**USUAL, "category": "-l h_rt=160", **changes})


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "COMPLETED"),
        ({"exit": 3}, "FAILED"),
        ({"failed": 37, "exit": 137, "end": 270}, "TIMEOUT"),
        ({"failed": 100, "exit": 137}, "CANCELLED"),
        ({"failed": 26}, "NODE_FAIL"),
    ],
)
def test_states(changes: dict[str, object], state: str) -> None:
    (done,) = accounting.parse(["# Version: 8.1.9", record(**changes)]).values()
    assert (done.state, done.number, done.name, done.user, done.account) == (state, 12, "swf-7", "alice", "")
    assert (done.submit_s, done.start_s, done.limit_s, done.nodes, done.cores) == (100, 110, 160, "n1", 1)


def test_hosts_of_parallel_jobs_and_elements_of_arrays() -> None:
    lines = [record(pe="mpi", slots=10, account="physics"), record(task=2, category="NONE")]
    found = accounting.parse(lines, ["12.1 n2 4 n3 4 n4 2", ""])
    assert (found["12"].nodes, found["12"].cores, found["12"].account) == ("n2,n3,n4", 10, "physics")
    assert {(job.partition, job.qos) for job in found.values()} == {("all.q", "")}
    assert (found["12_2"].element, found["12_2"].nodes, found["12_2"].limit_s) == ("12_2", "n1", None)


def test_a_job_that_never_started_has_no_nodes() -> None:
    (done,) = accounting.parse([record(start=0, end=0, failed=1)]).values()
    assert (done.start_s, done.nodes) == (None, "")
