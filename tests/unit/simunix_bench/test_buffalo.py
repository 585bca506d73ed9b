"""The workload of the University at Buffalo: its job table, and our runs beside the real one."""

from __future__ import annotations

from pathlib import Path

from rsg_server.whole_files import write_whole
from simunix.rjms.scenario import load
from simunix_bench.fidelity.buffalo import make, own_course, real_course, tables

HEAD = (
    "sim_job_id,sim_submit_ts,sim_wclimit,sim_duration,sim_tasks,sim_tasks_per_node,sim_username,sim_account,sim_req_mem,"
    "sim_features,sim_gres"
)
JOBS = [
    "1001,1483246886,7,15,12,12,user5,account2,NA,,",
    "1002,1483246935,30,1201,1,1,user1,account1,NA,CPU-N,",
    "1003,1483246946,16,155,1,1,user4,account2,500000,,gpu:1",
]
REAL = """\
JobID|Submit|Start|End
1001|2021-02-11T23:59:00|2021-02-11T23:59:00|2021-02-11T23:59:15
1002|2021-02-11T23:59:49|2021-02-12T00:00:00|2021-02-12T00:20:01
"""


def test_the_scenario_has_the_jobs_features_memory_and_gpus(tmp_path: Path) -> None:
    write_whole(tmp_path / "jobs500org.csv", "\n".join([HEAD, *JOBS]) + "\n")
    make(tmp_path / "jobs500org.csv", tmp_path / "made")
    assert (tmp_path / "made/jobs.csv").read_text().splitlines() == [
        "JobID,User,Account,Submit,ElapsedRaw,TimelimitRaw,NTasks,NTasksPerNode,ReqMem,Gres,Constraints",
        "1001,user5,account2,0,15,7,12,12,,,",
        "1002,user1,account1,49,1201,30,1,1,,,CPU-N",
        "1003,user4,account2,60,155,16,1,1,500000M,gpu:1,",
    ]
    assert load(tmp_path / "made/buffalo.yaml").name == "buffalo"


def test_runs_are_told_beside_the_real_one(tmp_path: Path) -> None:
    write_whole(tmp_path / "slurm_acct.out", REAL)
    write_whole(tmp_path / "run.json", '{"seed": 3}')
    rows = ["job_id,submission_time,starting_time,finish_time", "1001,30,31,46", "1002,79,99,1300", "1003,90,,"]
    write_whole(tmp_path / "jobs.csv", "\n".join(rows) + "\n")
    runs = {"real": real_course(tmp_path / "slurm_acct.out")} | dict([own_course(tmp_path)])
    assert runs["real"] == {1001: (0.0, 0.0, 15.0), 1002: (49.0, 60.0, 1261.0)}
    lines = tables(runs)
    assert lines[2:4] == ["| real | 2 | 6 | 6 | 11 | 1,261 |", "| seed 3 | 2 | 10 | 10 | 20 | 1,270 |"]
    assert lines[-1] == "| real, seed 3 | 5 | 5 | 9 | 0.0 | 1.000 |"
