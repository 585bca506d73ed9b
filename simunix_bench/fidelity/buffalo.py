"""The 500 jobs that the University at Buffalo ran on a real Slurm 20.02: the scenario, and our runs beside the real one.

    python -m simunix_bench.fidelity.buffalo make jobs500org.csv buffalo
    simunix run buffalo/buffalo.yaml --seed 1 --out out/s1
    python -m simunix_bench.fidelity.buffalo table out/s0 out/s1 --real slurm_acct.out

Both files are in the repository ubccr-slurm-simulator/slurm_sim_tools below tutorials/micro_cluster: the jobs in
job_traces/jobs500org.csv, what sacct told of the real run in real_slurm_run/slurm_acct.out. The parameters of the scheduler,
nodes and partitions are those of etc/slurm.conf there, without its topology/tree, for which there is no topology.conf.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from rsg_server.whole_files import write_whole
from simunix_bench.oar_real import Course, apart, own_numbers

COLUMNS = ("JobID", "User", "Account", "Submit", "ElapsedRaw", "TimelimitRaw", "NTasks", "NTasksPerNode", "ReqMem", "Gres")
"""Columns of a job table (docs/reference/job-table.md); `Constraints` follows them."""
SLURM_CONF = """\
ClusterName=micro
SlurmctldHost=controller
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
ReturnToService=1
MessageTimeout=60
JobRequeue=0
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
GresTypes=gpu
SchedulerType=sched/backfill
SchedulerParameters=bf_max_job_user=200,bf_window=1440,bf_interval=30,bf_max_time=30,sched_interval=60,bf_max_job_test=1200,\
default_queue_depth=1200,bf_continue
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK
PriorityType=priority/multifactor
PriorityDecayHalfLife=0-4
PriorityWeightFairshare=50000
PriorityWeightAge=50000
PriorityWeightPartition=1000000
PriorityWeightJobSize=200000
PriorityWeightQOS=20000
PriorityMaxAge=0-5
EnforcePartLimits=YES
JobCompType=jobcomp/filetxt
JobCompLoc=/var/log/slurm/jobcomp.log
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
AccountingStorageHost=accounting
PropagateResourceLimits=NONE
KillOnBadExit=1
NodeName=DEFAULT RealMemory=48000 Procs=12 Sockets=2 CoresPerSocket=6 ThreadsPerCore=1
NodeName=n[1-4] Feature=IB,CPU-N
NodeName=m[1-4] Feature=IB,CPU-M
NodeName=g1 Gres=gpu:2 Feature=IB,CPU-G
NodeName=b1 RealMemory=512000 Feature=IB,CPU-G,BigMem
PartitionName=normal Nodes=n[1-4],m[1-4],g1,b1 Default=YES DefMemPerCPU=2800 MaxTime=INFINITE State=UP
"""
GRES_CONF = "NodeName=g1 Name=gpu File=/dev/nvidia[0-1]\n"
SCENARIO = """\
name: buffalo
seed: 0
hosts:
  - {name: 'controller,login,accounting', cores: 4, memory: 8GiB}
  - {name: 'n[1-4],m[1-4],g1', cores: 12, sockets: 2, memory: 48GiB}
  - {name: b1, cores: 12, sockets: 2, memory: 512GiB}
slurm:
  cluster: micro
  controller: controller
  login: login
  nodes: 'n[1-4],m[1-4],g1,b1'
  config: slurm.conf
  accounting_storage_type: slurmdbd
  accounting_storage_host: accounting
workload: {trace: jobs.csv, start: 30s, users: trace, accounts: trace}
perturb: true
stop: workload
"""


def table_rows(jobs: Path) -> Iterator[str]:
    """Yield the lines of a job table from the published jobs, the head first; submissions count from the first one."""
    yield ",".join((*COLUMNS, "Constraints"))
    with jobs.open() as file:
        rows = list(csv.DictReader(file))
    first = min(int(row["sim_submit_ts"]) for row in rows)
    for row in rows:
        memory = "" if row["sim_req_mem"] == "NA" else f"{row['sim_req_mem']}M"
        submit_s = int(row["sim_submit_ts"]) - first
        names = [row["sim_job_id"], row["sim_username"], row["sim_account"], str(submit_s)]
        sizes = [row[f"sim_{name}"] for name in ("duration", "wclimit", "tasks", "tasks_per_node")]
        yield ",".join([*names, *sizes, memory, row["sim_gres"], row["sim_features"]])


def make(jobs: Path, folder: Path) -> None:
    """Write the scenario, its configuration and its job table into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"buffalo.yaml": SCENARIO, "slurm.conf": SLURM_CONF, "gres.conf": GRES_CONF}
    for name, text in {**texts, "jobs.csv": "\n".join(table_rows(jobs)) + "\n"}.items():
        write_whole(folder / name, text)


def real_course(accounting: Path) -> Course:
    """Return submission, start and end of each job of the real run, in seconds after the first submission."""
    with accounting.open() as file:
        rows = list(csv.DictReader(file, delimiter="|"))
    dates = {int(row["JobID"]): [datetime.fromisoformat(row[name]) for name in ("Submit", "Start", "End")] for row in rows}
    first = min(submit for submit, _, _ in dates.values())
    seconds = {job: [(date - first).total_seconds() for date in own] for job, own in dates.items()}
    return {job: (one[0], one[1], one[2]) for job, one in seconds.items()}


def own_course(folder: Path) -> tuple[str, Course]:
    """Return the name and the course of a run of ours, of the jobs that have ended."""
    seed = json.loads((folder / "run.json").read_text())["seed"]
    with (folder / "jobs.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["finish_time"]]
    columns = ("submission_time", "starting_time", "finish_time")
    first = min(float(row["submission_time"]) for row in rows)
    times = {int(row["job_id"]): [float(row[name]) - first for name in columns] for row in rows}
    return f"seed {seed}", {job: (one[0], one[1], one[2]) for job, one in times.items()}


def tables(runs: dict[str, Course]) -> list[str]:
    """Return two tables in Markdown: a row for each run, and a row for each pair of runs."""
    lines = ["| run | jobs | mean wait, s | median | longest | makespan, s |", f"| --- |{' ---: |' * 5}"]
    lines += [own_numbers(name, course) for name, course in runs.items()]
    lines += ["", "| runs | starts apart: mean, s | median | most | pairs inverted, % | correlation of waits |"]
    lines += [f"| --- |{' ---: |' * 5}"]
    return lines + [apart(pair, runs[pair[0]], runs[pair[1]]) for pair in itertools.combinations(runs, 2)]


def main() -> None:
    """Make the scenario, or print the tables of runs."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parts = parser.add_subparsers(dest="what", required=True)
    maker = parts.add_parser("make")
    maker.add_argument("jobs", type=Path)
    maker.add_argument("folder", type=Path)
    teller = parts.add_parser("table")
    teller.add_argument("runs", type=Path, nargs="+", metavar="DIR")
    teller.add_argument("--real", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.what == "make":
        make(options.jobs, options.folder)
        return
    real = {} if options.real is None else {"real": real_course(options.real)}
    print("\n".join(tables(real | dict(map(own_course, options.runs)))))


if __name__ == "__main__":
    main()
