"""The news about jobs in slurmctld's log while they run."""

from __future__ import annotations

import pytest

from simunix.rjms.adapter import JobNews
from simunix.rjms.slurm.accounting import diary, news

AT_S = 1577836830.5


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("_slurm_rpc_submit_batch_job: JobId=1 InitPrio=4294901759 usec=8", JobNews("1", "submitted", AT_S)),
        ("sched: Allocate JobId=12_3(15) NodeList=n1,n4 #CPUs=8 Partition=batch", JobNews("12_3", "started", AT_S, "n1,n4", 8)),
        ("sched/backfill: _start_job: Started JobId=7 in batch on node[01-16]", JobNews("7", "started", AT_S, "node[01-16]")),
        ("sched: _slurm_rpc_allocate_resources JobId=9 NodeList=n2 usec=12", JobNews("9", "started", AT_S, "n2")),
        ("requeue job JobId=5 due to failure of node n1", JobNews("5", "waits", AT_S)),
        ("_job_complete: JobId=1 WEXITSTATUS 0", None),
        ("error: Could not open job state file", None),
    ],
)
def test_a_line_of_the_log(line: str, expected: JobNews | None) -> None:
    assert news(f"[2020-01-01T00:00:30.500] {line}") == expected


@pytest.mark.parametrize(
    "line", ["", "JobId=1", "[yesterday] sched: Allocate JobId=1 NodeList=n1 #CPUs=8", "[2020-99-01T00:00:00] x"]
)
def test_other_lines_tell_nothing(line: str) -> None:
    assert news(line) is None


def test_the_log_is_where_the_configuration_says() -> None:
    assert diary("SlurmctldLogFile=/var/log/s.log\n") == "/var/log/s.log"
    assert diary("ClusterName=c\n") == diary("SlurmctldLogFile=/var/log/%h.log\n") == ""
