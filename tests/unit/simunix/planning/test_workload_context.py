"""Contexts of workloads: their header, what a run does with it, and how its state at T0 is judged."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.metrics import jobs
from simunix.planning import workload_context
from simunix.planning.submission import WorkloadPlan
from simunix.rjms.slurm.adapter import SLURM
from simunix.workload.job import Job
from simunix.workload.transforms.context import Context, context_of

NUMBERS = st.lists(st.integers(0, 10**9), unique=True).map(tuple)


@given(
    st.floats(0, 1e9).map(lambda value: float(f"{value:.15g}")),
    st.floats(0, 1e6).map(lambda value: float(f"{value:.15g}")),
    NUMBERS,
    NUMBERS,
)
def test_header_line(begin_s: float, settle_s: float, running: tuple[int, ...], waiting: tuple[int, ...]) -> None:
    context = Context(begin_s, settle_s, running, waiting)
    assert context_of([" Version: 2.2", context.line()]) == context


@pytest.mark.parametrize(
    "line", [" Context:", " Context: T0=x settle=1 running= waiting=", " Context: T0=1 settle=1 running=1,x waiting="]
)
def test_a_line_that_cannot_be_read(line: str) -> None:
    with pytest.raises(SimunixError, match="header: expected Context: T0=0 settle=60 running=1,2 waiting=3, got 'Context:"):
        context_of([line])


CONTEXT = Context(9, 5, (1,), (2, 3))


def workload(context: Context | None = CONTEXT) -> WorkloadPlan:
    section: Any = SimpleNamespace(start=10**10)
    found = tuple(Job(number, 0, 1, 1, 4) for number in (1, 2, 3, 4))
    known: dict[str, Any] = {
        **{"label": "w.swf", "section": section, "trace": Path("w.swf"), "host": "login"},
        **{"jobs": found, "skipped": (), "files": (), "context": context},
        "cluster": SimpleNamespace(environment={}, rjms=SLURM),
    }
    return WorkloadPlan(**{field.name: known.get(field.name) for field in fields(WorkloadPlan)})


def test_waiting_jobs_are_released_at_t0() -> None:
    (context,) = workload_context.plan_contexts([workload()])
    assert context.process.start_ns == 15 * 10**9
    assert context.process.argv == ("/bin/sh", context.program.path)
    assert context.program.content.decode().splitlines() == [
        "squeue --noheader --states=all --format='%j|%T|%C' > /var/spool/simunix/context.states",
        "set -- $(squeue --noheader --states=PENDING --sort=i --format=%A --name=swf-2,swf-3)",
        '[ $# -eq 0 ] || scontrol release "$@"',
    ]


def test_nobody_to_release() -> None:
    assert workload_context.program(SLURM.clients, []).count("\n") == 1


def test_a_long_queue_is_released_in_parts() -> None:
    """A single word of a command line has its limit, 128 KiB."""
    lines = workload_context.program(SLURM.clients, range(10**9, 10**9 + 2500)).splitlines()
    assert len(lines) == 1 + 2 * 3
    assert max(map(len, lines)) < 1 << 17


def test_a_workload_without_context_has_nothing_to_restore() -> None:
    assert workload_context.plan_contexts([workload(None)]) == ()


def test_a_context_whose_jobs_are_not_submitted_is_refused() -> None:
    short = workload()
    with pytest.raises(SimunixError, match=r"w\.swf: job 3 of its context is not submitted \(begin, end or max_jobs"):
        workload_context.plan_contexts([replace(short, jobs=short.jobs[:2])])


@pytest.mark.parametrize(
    ("states", "reasons"),
    [
        ("swf-1|RUNNING|4\nswf-2|PENDING|4\nswf-3|PENDING|4\nswf-4|RUNNING|4\n", []),
        ("swf-1|RUNNING|4\nswf-2|RUNNING|4\nswf-3|RUNNING|4\n", ["jobs 2, 3: pending at T0 expected, running"]),
        ("swf-1|PENDING|4\nswf-2|PENDING|4\nswf-3|PENDING|4\n", ["job 1: running at T0 expected, pending"]),
        ("swf-1|RUNNING|3\nswf-2|PENDING|4\nswf-3|PENDING|4\n", ["job 1: on fewer cores than it asks for"]),
        ("", ["job 1: running at T0 expected, not in the queue", "jobs 2, 3: pending at T0 expected, not in the queue"]),
        (None, ["the run ended before T0 = 15 s"]),
    ],
)
def test_judgement(tmp_path: Path, states: str | None, reasons: list[str]) -> None:
    (context,) = workload_context.plan_contexts([workload()])
    if states is not None:
        (tmp_path / "states").write_text(states)
    assert workload_context.judge(context, tmp_path / "states") == reasons


def test_metrics_leave_the_context_out(tmp_path: Path) -> None:
    table = pd.DataFrame({"workload_name": ["w.swf"] * 4, "job_id": ["1", "2", "3", "4"]})
    context = {"workload": "w.swf", "running": [1], "waiting": [2, 3], "established": True, "reasons": []}
    (tmp_path / "run.json").write_text(json.dumps({"valid": True, "contexts": [context]}))
    assert jobs.replayed(table, tmp_path)["job_id"].tolist() == ["4"]
    (tmp_path / "run.json").write_text(json.dumps({"valid": False, "contexts": [{**context, "reasons": ["job 1: pending"]}]}))
    with pytest.raises(SimunixError, match="INVALID, its context was not established: job 1: pending"):
        jobs.replayed(table, tmp_path)
    with pytest.raises(SimunixError, match="expected a run directory"):
        jobs.replayed(table, tmp_path / "nothing")
