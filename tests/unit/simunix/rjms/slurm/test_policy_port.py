"""How a policy's daemon reads squeue, sinfo and scontrol, and which commands do its actions."""

from __future__ import annotations

from contextlib import closing
from math import inf
from pathlib import Path

import pytest

from simunix.policy import Node, Release, Requeue, Start
from simunix.rjms.slurm.policy.port import commands, job_of, limit_s, nodes_of, number_of, shares_of
from simunix.rjms.slurm.policy.watch import LogWatch

RUNNING = "3_1|RUNNING|root|(null)|batch|2|6|5:00|946684805|946684807|946685107|None|(null)|n[1-2]|a|b"
WAITING = "1|PENDING|root|phys|batch|2-4|6|UNLIMITED|946684805|N/A|N/A|JobHeldUser|afterany:1(unfulfilled)||wrap"


def test_a_line_of_squeue() -> None:
    job, reason, dependency = job_of(RUNNING)
    assert (job.id, job.name, job.state, job.account) == ("3_1", "a|b", "RUNNING", "")
    assert (job.start_s, job.end_s, job.latest_end_s, list(job.placed)) == (946684807.0, None, 946685107.0, ["n1", "n2"])
    job, reason, dependency = job_of(WAITING)
    assert (reason, dependency, job.nodes, job.limit_s) == ("JobHeldUser", "afterany:1(unfulfilled)", 2, inf)
    assert job.start_s is None and not job.placed and job.account == "phys"


@pytest.mark.parametrize(
    ("text", "seconds"), [("5:00", 300), ("1:00:00", 3600), ("2-01:00:30", 176430), ("UNLIMITED", inf), ("NOT_SET", inf)]
)
def test_time_limits(text: str, seconds: float) -> None:
    assert limit_s(text) == seconds


def test_nodes_are_listed_once_with_all_their_partitions() -> None:
    lines = ["n1|batch*|1/3/0/4|mixed", "n1|debug|1/3/0/4|mixed", "n2|batch*|0/0/4/4|down*"]
    assert nodes_of(lines) == [Node("n1", 4, 3, "mixed", ("batch", "debug")), Node("n2", 4, 0, "down*", ("batch",))]


def test_the_cores_of_a_job_on_each_node() -> None:
    text = "JobId=2 NodeList=n[1-4] Nodes=n1 CPU_IDs=0-2,5 Mem=0 GRES= Nodes=n[2-4] CPU_IDs=0 Mem=0 GRES="
    assert shares_of(text) == {"n1": 4, "n2": 1, "n3": 1, "n4": 1}


def test_the_commands_of_actions() -> None:
    assert commands(Start("7", ("n1", "n2"))) == [("update", "JobId=7", "NodeList=n1,n2"), ("release", "7")]
    assert commands(Release("7")) == [("release", "7")]
    assert commands(Release("7", 5)) == [("release", "7"), ("update", "JobId=7", "Priority=5")]
    assert commands(Requeue("7")) == [("requeuehold", "7")]


def test_numbers_of_elements_are_sorted_as_numbers() -> None:
    assert sorted(["10", "9", "9_10", "9_2"], key=number_of) == ["9", "9_2", "9_10", "10"]


@pytest.mark.parametrize(
    ("line", "is_event"),
    [
        ("[2000-01-01T00:00:06.000] _slurm_rpc_submit_batch_job: JobId=1 InitPrio=0 usec=8", True),
        ("[2000-01-01T00:00:27.001] _job_complete: JobId=3_1(4) done", True),
        ("[2000-01-01T00:00:27.001] _job_complete: JobId=3_1(4) WEXITSTATUS 0", False),
        ("[2000-01-01T00:00:06.001] _slurm_rpc_update_job: complete JobId=1 uid=0 usec=16", False),
        ("[2000-01-01T00:00:07.000] sched: Allocate JobId=1 NodeList=n[1-2] #CPUs=6 Partition=batch", False),
        ("[2000-01-01T00:00:07.000] error: Nodes n2 not responding, setting DOWN", True),
    ],
)
def test_what_a_policy_is_woken_by(line: str, is_event: bool, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("[…] _job_complete: JobId=1 done\n")
    with closing(LogWatch(str(log))) as watch:
        watch.wait(0.0)  # what is there already is no event
        with log.open("a") as file:
            file.write(line + "\n")
        assert watch.has_event() == is_event
