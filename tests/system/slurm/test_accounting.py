"""Slurm's accounting in its database: slurmdbd and MariaDB, unmodified; sacct, sreport and sacctmgr answer."""

from __future__ import annotations

import csv
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.system.needs import with_database
from tests.system.runs import Run, assert_same

pytestmark = pytest.mark.slurm


SMALL = """
name: accounting
hosts: [{name: ctl, cores: 4}, {name: 'n[1-4]', cores: 16, sockets: 2}]
slurm: {controller: ctl, nodes: 'n[1-4]', accounting_storage_type: slurmdbd}
stop: time
until: UNTIL
processes: [{name: user, host: ctl, start: 10s, command: [/bin/bash, USER]}]
"""
FIELDS = "JobID,State,Elapsed,NodeList,Submit,Start,End"


def run(simunix: Simunix, tmp_path: Path, scenario: str, command: str = "", out: str = "out") -> Path:
    """Run a scenario, in which USER is a script of this command; the run directory."""
    (tmp_path / "user.sh").write_text(command)
    (tmp_path / "s.yaml").write_text(scenario.replace("USER", str(tmp_path / "user.sh")))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / out, timeout=200)
    assert done.returncode == 0, done.stderr
    assert "refused" not in done.stderr
    return tmp_path / out


def rows(text: str) -> list[dict[str, str]]:
    """What `sacct --parsable2` prints."""
    return list(csv.DictReader(text.splitlines(), delimiter="|"))


@pytest.mark.slow
@with_database
def test_sacct_agrees_with_scontrol_and_jobcomp(simunix: Simunix, tmp_path: Path) -> None:
    script = f"""
    sbatch -o /dev/null -N1 --wrap 'sleep 60'
    sbatch -o /dev/null -N4 --exclusive --wrap 'srun sleep 20; sleep 77'
    sbatch -o /dev/null -n8 --wrap 'exit 3'
    sbatch -o /dev/null -t 1 -n2 --wrap 'sleep 600'
    sbatch -o /dev/null -n2 --wrap 'sleep 600'; sleep 200; scancel 5; sleep 100
    sacct -X -P -o {FIELDS}
    echo; scontrol -o show jobs; sacct -P -j 2 -o JobID,JobName,AllocCPUS
    """
    out = run(simunix, tmp_path, SMALL.replace("UNTIL", "400s"), script)
    told, others = (out / "hosts/ctl/user.out").read_text().split("\n\n")
    jobs = {row["JobID"]: row for row in rows("\n".join(line for line in told.splitlines() if "|" in line))}
    states = {number: row["State"] for number, row in jobs.items()}
    assert states == {"1": "COMPLETED", "2": "COMPLETED", "3": "FAILED", "4": "TIMEOUT", "5": "CANCELLED by 0"}
    times = {number: tuple(row[name] for name in ("Submit", "Start", "End", "NodeList")) for number, row in jobs.items()}
    pattern = r"JobId=(\d+) .*?{}=(\S+) .*?StartTime=(\S+) EndTime=(\S+) .*?[ ]NodeList=(\S+)"
    assert {number: tuple(rest) for number, *rest in re.findall(pattern.format("SubmitTime"), others)} == times
    jobcomp = (out / "hosts/ctl/files/var_log_slurm/jobcomp.log").read_text()
    pattern = r"JobId=(\d+) .*?StartTime=(\S+) EndTime=(\S+) NodeList=(\S+) .*?SubmitTime=(\S+)"
    recorded = {number: (submit, start, end, nodes) for number, start, end, nodes, submit in re.findall(pattern, jobcomp)}
    assert recorded == times
    assert (jobs["1"]["Elapsed"], jobs["2"]["Elapsed"], jobs["2"]["NodeList"]) == ("00:01:00", "00:01:37", "n[1-4]")
    assert "2|wrap|64\n2.batch|batch|16\n2.0|sleep|64\n" in others


@pytest.mark.slow
@with_database
def test_the_scenario_agrees_with_jobs_csv(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", ROOT / "scenarios/accounting.yaml", "--out", tmp_path / "out", timeout=300)
    assert done.returncode == 0, done.stderr
    epoch = datetime(1993, 11, 10, 16, 59, 53, tzinfo=UTC)

    def seconds(text: str) -> int:
        return int((datetime.fromisoformat(text).replace(tzinfo=UTC) - epoch).total_seconds())

    programs = json.loads((tmp_path / "out/run.json").read_text())["programs"]
    assert {"/usr/sbin/slurmctld", "/usr/sbin/slurmdbd", "/usr/sbin/mariadbd", "/usr/sbin/slurmd"} <= set(programs)
    report = (tmp_path / "out/hosts/login/report.out").read_text()
    told = {
        row["JobName"].removeprefix("swf-"): (row["State"], *(seconds(row[name]) for name in ("Submit", "Start", "End")))
        for row in rows(report.partition("\n---")[0])
    }
    with (tmp_path / "out/jobs.csv").open() as file:
        jobs = list(csv.DictReader(file))
    times = ("submission_time", "starting_time", "finish_time")
    assert told == {job["job_id"]: (job["final_state"], *(int(float(job[name])) for name in times)) for job in jobs}
    assert len(told) == 54
    used_min = sum(float(job["execution_time"]) * int(job["requested_number_of_resources"]) for job in jobs) / 60
    reported = re.search(r"^ *simunix +nasa +(\d+) ", report, re.MULTILINE)
    assert reported is not None
    assert abs(int(reported[1]) - used_min) <= 1  # what sreport counts, hour by hour, is what the jobs have used


PRODUCTION = """
name: production
epoch: 2000-01-01T00:00:00Z
hosts: [{name: 'ctl,login,dbd,db', cores: 4}, {name: 'n[1-4]', cores: 16, sockets: 2}]
network: {latency: 1ms}
slurm:
  cluster: lab
  controller: ctl
  login: login
  nodes: n[1-4]
  accounting_storage_type: accounting_storage/slurmdbd
  accounting_storage_host: dbd
  accounting_storage_enforce: associations,limits
  storage_host: db
  sacctmgr:
    - add account physics Description='those of the lab' Organization=lab
    - add user daemon Account=physics MaxJobs=1
stop: time
until: 75min
processes: [{name: user, host: login, start: 10s, user: daemon, directory: /tmp, command: [/bin/bash, -c, "COMMAND"]}]
"""
COMMAND = """
for i in 1 2 3; do sbatch -o /dev/null --wrap 'sleep 600'; done; sbatch -A nobody --wrap true; sleep 4000
sacct -X -n -P -o JobID,Account,State,Elapsed,Start; echo
sacctmgr -n -P show cluster format=cluster,controlhost
sacctmgr -n -P show assoc user=daemon format=cluster,account,user,maxjobs
period='start=2000-01-01T00:00:00 end=2000-01-01T01:00:00'
sreport -n -P cluster AccountUtilizationByUser $period; sreport -n -P cluster Utilization $period
"""


@pytest.mark.slow
@with_database
def test_accounts_limits_and_reports_twice(fresh_simunix: Simunix, tmp_path: Path) -> None:
    scenario = PRODUCTION.replace("COMMAND", COMMAND.replace("\n", "\\n"))
    first, second = (run(fresh_simunix, tmp_path, scenario, out=name) for name in ("first", "second"))
    jobs, answers = (first / "hosts/login/user.out").read_text().split("\n\n")
    # The account's limit of one job at a time, in front of 64 free cores. Submitted at 10 s: slurmctld, which comes up
    # a second late, since the database makes its tables, schedules once a second.
    assert jobs.splitlines()[3:] == [
        f"{number}|physics|COMPLETED|00:10:00|2000-01-01T00:{10 * (number - 1):02}:11" for number in (1, 2, 3)
    ]
    assert "Invalid account" in (first / "hosts/login/user.err").read_text()
    # Thirty minutes of one core for the physicists; the cluster had 64 cores for nearly an hour.
    cluster, association, root, account, by_user, utilization = answers.splitlines()
    assert (cluster, association) == ("lab|10.0.0.1", "lab|physics|daemon|1")
    assert (root, account, by_user) == ("lab|root|||30|0", "lab|physics|||30|0", "lab|physics|daemon|daemon|30|0")
    allocated, down, planned_down, idle, planned, reported = map(int, utilization.split("|")[1:])
    assert (allocated, down, planned_down) == (30, 0, 0)
    assert allocated + idle + planned == reported and 64 * 59 < reported <= 64 * 60
    assert_same(Run(first), Run(second))


DEAF = """
name: deaf
epoch: 2000-01-01T00:00:00Z
hosts: [{name: 'ctl,dbd', cores: 4}, {name: 'n[1-2]', cores: 4}]
slurm: {controller: ctl, nodes: 'n[1-2]', accounting_storage_type: slurmdbd, accounting_storage_host: dbd}
stop: time
until: 500s
processes:
  - name: stop
    host: dbd
    start: 15s
    command: |
      pkill -STOP slurmdbd; sleep 200; pkill -CONT slurmdbd
      sleep 85; pkill -STOP mariadbd; sleep 100; pkill -CONT mariadbd
  - name: user
    host: ctl
    start: 20s
    command: |
      sbatch --parsable -o /dev/null -N1 --wrap 'sleep 60'; sleep 100; timeout 20 sacct -X -n; echo $?
      sleep 150; sacct -X -n -P -o State,Start,End
      sleep 60; sbatch --parsable -o /dev/null -N2 --wrap 'sleep 20'; sleep 130; sacct -X -n -P -j 2 -o State,Start,End
"""


@pytest.mark.slow
@with_database
def test_nothing_is_lost_while_the_database_is_deaf(fresh_simunix: Simunix, tmp_path: Path) -> None:
    """First slurmdbd, then MariaDB is stopped for a while: slurmctld keeps what it has to tell, and slurmdbd waits."""
    first, second = (run(fresh_simunix, tmp_path, DEAF, out=name) for name in ("first", "second"))
    assert (first / "hosts/ctl/user.out").read_text().splitlines() == [
        "1",
        "124",
        "COMPLETED|2000-01-01T00:00:20|2000-01-01T00:01:20",
        "2",
        "COMPLETED|2000-01-01T00:05:50|2000-01-01T00:06:10",
    ]
    assert_same(Run(first), Run(second))


OWN = """
ClusterName=mine
SlurmctldHost=boss
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=/var/spool/mine/state
SlurmdSpoolDir=/var/spool/mine/slurmd
SlurmctldLogFile=/var/log/mine/ctld.log
SlurmdLogFile=/var/log/mine/slurmd.log
ProctrackType=proctrack/pgid
SlurmctldPidFile=/run/ctld.pid
SlurmdPidFile=/run/slurmd.pid
MpiDefault=none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=store
NodeName=w[1-2] CPUs=2
PartitionName=p Nodes=w[1-2] Default=YES
"""
OWN_SCENARIO = """
name: own
hosts: [{name: 'boss,store,w[1-2]', cores: 2}]
slurm: {cluster: mine, controller: boss, nodes: 'w[1-2]', config: slurm.conf, accounting_storage_type: slurmdbd}
stop: time
until: 60s
processes: [{name: user, host: w1, start: 20s, command: "srun -N2 sleep 9; sleep 9; sacct -X -n -P -o State,Elapsed,NodeList"}]
"""


@pytest.mark.slow
@with_database
@pytest.mark.parametrize("user", ["root", "slurm"])
def test_a_user_configuration_may_have_a_database(simunix: Simunix, tmp_path: Path, user: str) -> None:
    """Also with a SlurmUser of its own, as Debian's package makes one, where users can be changed."""
    if user != "root" and os.geteuid() != 0:
        pytest.skip("needs namespaces with all users")
    (tmp_path / "slurm.conf").write_text(OWN.replace("SlurmUser=root", f"SlurmUser={user}"))
    out = run(simunix, tmp_path, OWN_SCENARIO)
    assert (out / "hosts/w1/user.out").read_text() == "COMPLETED|00:00:09|w[1-2]\n"
    assert (out / "hosts/store/slurmdbd.err").exists()


BAD = {
    "other kind": ("accounting_storage_type: mysql", "slurm.accounting_storage_type: Input should be 'none' or 'slurmdbd'"),
    "no database": ("storage_host: ctl", "slurm.storage_host: of no use without a database; add accounting_storage_type"),
    "unknown host": ("accounting_storage_type: slurmdbd, storage_host: zz", "slurm: host 'zz' is not among the hosts"),
    "misspelt": ("accounting_storage_typ: slurmdbd", "did you mean 'accounting_storage_type'?"),
    "own conf": ("accounting_storage_type: slurmdbd, config: slurm.conf", "ClusterName is mine, but simunix for the section"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_one_line(simunix: Simunix, tmp_path: Path, name: str) -> None:
    setting, words = BAD[name]
    (tmp_path / "slurm.conf").write_text(OWN)
    slurm = f"slurm: {{controller: ctl, nodes: n1, {setting}}}\n"
    (tmp_path / "s.yaml").write_text(f"name: bad\nhosts: [{{name: 'ctl,n1,store'}}]\n{slurm}stop: time\nuntil: 1s\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.strip().count("\n") == 0


@pytest.mark.slow
@with_database
def test_a_command_that_sacctmgr_refuses_ends_the_run(simunix: Simunix, tmp_path: Path) -> None:
    section = "accounting_storage_type: slurmdbd, sacctmgr: [add user daemon Account=none]"
    (tmp_path / "s.yaml").write_text(
        f"name: bad\nhosts: [{{name: 'ctl,n1'}}]\nslurm: {{controller: ctl, nodes: n1, {section}}}\nstop: time\nuntil: 1h\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert re.search(r"ctl: slurmctld ended with exit code 1 at \d\.\d+ s; its output is in", done.stderr)
    log = (tmp_path / "out/hosts/ctl/slurmctld.err").read_text() + (tmp_path / "out/hosts/ctl/slurmctld.out").read_text()
    assert "none" in log
