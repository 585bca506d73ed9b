"""OAR: its configuration from the platform, the words of oarsub, and the rows of its database."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.planning.expand import Expansion
from simunix.rjms.adapter import Choice
from simunix.rjms.oar import accounting, configuration, layout
from simunix.rjms.oar.adapter import OAR
from simunix.rjms.oar.clients import CLIENTS, submit_command
from simunix.workload.job import Work
from tests.needs import needs_root
from tests.unit.simunix.rjms import installations
from tests.unit.simunix.rjms.installations import installed, write_program
from tests.unit.simunix.rjms.jobs import job

ROOT_ONLY = needs_root("OAR runs jobs as other users: its section is refused without root")
SCENARIO = """
name: s
hosts: [{name: 'm,l', cores: 2}, {name: 'n[1-2]', cores: 4, sockets: 2}, {name: db}]
oar: {controller: m, login: l, nodes: 'n[1-2]'}
"""
USERS = ("oar:x:102:105::/:/bin/sh", "postgres:x:100:104::/:/bin/sh")
CONF = """# DataBase hostname
DB_HOSTNAME="127.0.0.1"
DB_BASE_PASSWD=""
DB_BASE_PASSWD_RO=""
SERVER_HOSTNAME="localhost"
LOG_FILE="/var/log/oar.log"
CPUSET_PATH="/oar"
#TAKTUK_CMD="/usr/bin/taktuk -t 30 -s"
# STORABLE_RECURSION_LIMIT = -1
"""
CLUSTER = configuration.Cluster(controller="m", database="db", cores={"n1": 4, "n2": 1}, sockets={"n1": 2, "n2": 1})
HEAD = (
    "job_id,array_id,array_index,elements,job_name,state,job_user,project,queue_name,submission_time,start_time,stop_time,exit_code,"
    "moldable_walltime,cores,nodes,events"
)
ROW = {
    "job_id": 12,
    "array_id": 12,
    "array_index": 1,
    "elements": 1,
    "job_name": "swf-7",
    "state": "Terminated",
    "job_user": "alice",
    "project": "default",
    "queue_name": "besteffort",
    "submission_time": 100,
    "start_time": 110,
    "stop_time": 170,
    "exit_code": "0",
    "moldable_walltime": 160,
    "cores": 3,
    "nodes": '"n1,n2"',
    "events": "SWITCH_INTO_TERMINATE_STATE",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root file system with OAR's programs by name only."""
    programs = {*OAR.programs, *layout.PACKAGES} - {layout.POSTGRES_VERSIONS}
    folder = installed(tmp_path / "root", sorted(programs), *USERS)
    for version in ("9", "15"):
        (folder / f"usr/lib/postgresql/{version}").mkdir(parents=True)
    write_program(folder / layout.CONF.lstrip("/"), CONF)
    write_program(folder / layout.VERSION_FILE.lstrip("/"), 'my $OARVersion = "2.5.9";\n')
    write_program(folder / layout.SCHEDULERS.lstrip("/") / "oar_sched_gantt_with_timesharing")
    return folder


def expanded(tmp_path: Path, root: Path, *settings: str) -> Expansion:
    return installations.expanded(tmp_path, f"{SCENARIO}root: {root}\n", *settings)


# The files


def test_oar_conf_from_a_platform() -> None:
    changes = {**configuration.settings(CLUSTER), "TAKTUK_CMD": "/usr/bin/taktuk"}
    text = configuration.changed(CONF, changes, "oar.configuration")
    assert '\nDB_HOSTNAME="db"\n' in text and '\nSERVER_HOSTNAME="m"\n' in text and '\nDB_BASE_PASSWD="oar"\n' in text
    assert '\n#CPUSET_PATH="/oar"\n' in text and '\nTAKTUK_CMD="/usr/bin/taktuk"\n' in text
    assert len(text.splitlines()) == len(CONF.splitlines())


def test_a_variable_that_oar_conf_does_not_have_is_refused() -> None:
    with pytest.raises(
        SimunixError, match=r"^oar\.configuration\.DB_HOST: no such variable in oar\.conf; known: CPUSET_PATH, "
    ):
        configuration.changed(CONF, {"DB_HOST": "m"}, "oar.configuration")


def test_a_resource_for_each_core() -> None:
    statements = configuration.resources_sql(CLUSTER)
    assert "('n1', 'Alive', 1, 'n1', 1, 2, '1')" in statements and "('n1', 'Alive', 1, 'n1', 2, 3, '2')" in statements
    assert "('n2', 'Alive', 1, 'n2', 3, 5, '0');\n" in statements
    assert "UPDATE queues" not in statements and "enabled = 'NO'" in statements


def test_ranks_are_started_on_cores_or_hosts(tmp_path: Path) -> None:
    write_program(tmp_path / "oarsh", '#!/bin/sh\necho "$1 $3"\n')
    write_program(tmp_path / "start", configuration.start_ranks())
    (tmp_path / "nodes").write_text("n1\nn1\nn2\n")
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "OAR_NODEFILE": str(tmp_path / "nodes")}

    def ranks(**more: str) -> list[str]:
        done = subprocess.run([tmp_path / "start", "work"], env={**environment, **more}, capture_output=True, text=True)
        return sorted(done.stdout.splitlines())

    assert ranks() == ["n1 PMI_RANK=0", "n1 PMI_RANK=1", "n2 PMI_RANK=2"]
    assert ranks(RANKS_ON="hosts") == ["n1 PMI_RANK=0", "n2 PMI_RANK=1"]


# The plan


@ROOT_ONLY
def test_daemons_paths_and_files(tmp_path: Path, root: Path) -> None:
    plan = expanded(tmp_path, root, "oar.database=db", "oar.scheduler=oar_sched_gantt_with_timesharing").plan
    assert [(each.name, each.host, each.collects) for each in plan.processes] == [
        ("postgres", "db", False),
        ("almighty", "m", False),
        ("oar-node", "n1", False),
        ("oar-node", "n2", False),
        ("records", "m", True),
    ]
    assert "/usr/lib/postgresql/15/bin/postgres" in plan.processes[0].argv[2]
    private = {host.name: {spec.path for spec in host.private} for host in plan.hosts}
    assert private["db"] == {layout.POSTGRES_HOME, layout.POSTGRES_SOCKETS} and layout.CONF_FOLDER in private["n2"]
    confs = [file for file in plan.files if file.path == layout.CONF]
    assert [file.host for file in confs] == ["m", "l", "n1", "n2"] and {(file.owner, file.mode) for file in confs} == {
        ("oar", 0o600)
    }
    assert b'DB_HOSTNAME="db"' in confs[0].content
    assert any(b"scheduler_policy = 'oar_sched_gantt_with_timesharing'" in file.content for file in plan.files)


@ROOT_ONLY
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("oar.controller=x", r"oar: host 'x' is not among the hosts of the scenario; known: m,l,n\[1-2\],db$"),
        ("oar.scheduler=fifo", r"oar\.scheduler: 'fifo' is not installed; known: oar_sched_gantt_with_timesharing$"),
        ("oar.configuration.X=1", r"oar\.configuration\.X: no such variable in oar\.conf; known: "),
    ],
)
def test_what_does_not_fit(tmp_path: Path, root: Path, setting: str, message: str) -> None:
    with pytest.raises(SimunixError, match=message):
        expanded(tmp_path, root, setting)


def test_a_root_without_its_packages_is_refused(tmp_path: Path, root: Path) -> None:
    (root / layout.OARSUB.lstrip("/")).unlink()
    with pytest.raises(SimunixError, match=r"oar: not installed in the root /.*/root: oar-user; make it with oar-server "):
        expanded(tmp_path, root)


# The words


def test_words_of_oarsub() -> None:
    end = ("-O", "/dev/null", "-E", "/dev/null", "/bin/sleep 60")
    begin = ("oarsub", "-n", "swf-7", "-d", "/tmp", "-l")
    assert submit_command(job()) == (*begin, "/core=1,walltime=0:02:40", *end)
    assert submit_command(job(cores=5, requested_s=math.inf)) == (*begin, "/core=5,walltime=8760:00:00", *end)
    choice = Choice("oarsub", partition="besteffort", account="physics", is_held=True, arguments=("-t", "idempotent"))
    chosen = ("-q", "besteffort", "--project", "physics", "--hold", "-t", "idempotent")
    assert submit_command(job(requested_s=7141), choice) == (*begin, "/core=1,walltime=2:00:01", *chosen, *end)
    assert CLIENTS.array(40) == ("--array", "40")


def test_scripts_get_cores_or_hosts() -> None:
    work = Work("p", "/shared/script", 3, "/shared/%jobname%-%jobid%.log", on_nodes=True)
    words = submit_command(job(cores=12, work=work))
    assert words[6] == "/host=3,walltime=0:02:40"
    assert words[-5:] == (
        "-O",
        "/shared/swf-7-%jobid%.log",
        "-E",
        "/shared/swf-7-%jobid%.log",
        "env RANKS_ON=hosts /shared/script",
    )


FULL = """Job_Id: {0}
    job_array_id = 4
    job_array_index = {1}
    name = swf-7
    state = {2}
    wanted_resources = -l "{{type = 'default'}}/core=2,walltime=0:2:40"
    stopTime = 2026-11-23 00:00:3{1}
"""


@pytest.fixture
def oarstat(tmp_path: Path) -> dict[str, str]:
    """An environment in which oarstat prints an array of two jobs, as OAR 2.5.9 does."""
    text = FULL.format(4, 1, "Hold") + FULL.format(5, 2, "Running")
    write_program(tmp_path / "oarstat", f"#!/bin/sh\ncat <<'END'\n{text}END\n")
    return {"PATH": f"{tmp_path}:/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("sh", "-c", CLIENTS.states), "swf-7|Hold|2\nswf-7|Running|2\n"),
        (("sh", "-c", CLIENTS.find_held(["swf-8", "swf-7"])), "4\n"),
        (("sh", "-c", CLIENTS.find_held(["swf-8"])), ""),
        (CLIENTS.unfinished, "4\n4_1\n5\n4_2\n"),
        (tuple(word.replace("{}", "4_2") for word in CLIENTS.ended), "end=2026-11-23T00:00:32\n"),
        (tuple(word.replace("{}", "4") for word in CLIENTS.ended), "end=2026-11-23T00:00:31\n"),
    ],
)
def test_questions(oarstat: dict[str, str], words: tuple[str, ...], expected: str) -> None:
    assert subprocess.run(words, env=oarstat, capture_output=True, text=True, check=True).stdout == expected


# The records


def record(**changes: object) -> str:
    return ",".join(str(value) for value in {**ROW, **changes}.values())


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "COMPLETED"),
        ({"exit_code": 768}, "FAILED"),
        ({"exit_code": ""}, "NODE_FAIL"),
        ({"state": "Error", "exit_code": "", "events": "FRAG_JOB_REQUEST WALLTIME SEND_KILL_JOB"}, "TIMEOUT"),
        ({"state": "Error", "exit_code": "", "events": "FRAG_JOB_REQUEST SEND_KILL_JOB"}, "CANCELLED"),
        ({"state": "Error", "exit_code": "", "events": "BESTEFFORT_KILL FRAG_JOB_REQUEST"}, "PREEMPTED"),
        ({"state": "Error", "exit_code": "", "events": "PING_CHECKER_NODE_SUSPECTED"}, "NODE_FAIL"),
    ],
)
def test_states(changes: dict[str, object], state: str) -> None:
    (done,) = accounting.parse([HEAD, record(**changes)]).values()
    assert (done.state, done.number, done.name, done.user, done.account, done.element) == (state, 12, "swf-7", "alice", "", "")
    assert (done.submit_s, done.start_s, done.end_s, done.limit_s) == (100, 110, 170, 160)
    assert (done.nodes, done.cores, done.partition) == ("n1,n2", 3, "besteffort")


def test_jobs_that_have_not_ended_have_no_record() -> None:
    assert accounting.parse([HEAD, record(state="Running"), record(state="Hold")]) == {}


def test_elements_of_arrays_are_called_by_the_arrays_number() -> None:
    found = accounting.parse([HEAD, record(elements=2), record(job_id=13, array_index=2, elements=2, project="physics")])
    assert list(found) == ["12_1", "12_2"]
    assert (found["12_2"].number, found["12_2"].account) == (13, "physics")


def test_a_job_that_never_started_has_no_nodes() -> None:
    row = record(state="Error", start_time=0, stop_time=120, exit_code="", cores=0, nodes="", events="FRAG_JOB_REQUEST")
    (done,) = accounting.parse([HEAD, row]).values()
    assert (done.start_s, done.nodes, done.state) == (None, "", "CANCELLED")
