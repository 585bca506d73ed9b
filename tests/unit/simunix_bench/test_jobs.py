"""Jobs of the benchmarks: what is submitted, what is made of Slurm's notes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from simunix.launch.interrupts import Interrupts
from simunix.rjms.adapter import CompletedJob
from simunix.workload.guest.submitter import Flushed, Submitter
from simunix.workload.job import Job
from simunix_bench import demo, hundred_jobs, long_runs, real_cluster, thirty_jobs
from simunix_bench.context import Context, MeasurementError
from simunix_bench.growth import Growth, exponent, rows_of
from simunix_bench.hundred_jobs import Outcome, comparison, outcome
from simunix_bench.native_cost import EVERY_S, MOST_JOBS, SHORT_S, jobs_of, machine_of, sample
from simunix_bench.processor_time import of_process_s
from simunix_bench.real_cluster import Cost, Machine, RealRun, configuration, daemons, prepare
from simunix_bench.real_cluster_inside import HERE
from simunix_bench.row import at_most

JOB = CompletedJob(1, "swf-1", "COMPLETED", 100.0, 102.0, 162.0, "node1", 1, None)


def test_a_hundred_jobs_of_a_minute() -> None:
    jobs = hundred_jobs.make_jobs()
    assert [job.id for job in jobs] == list(range(1, 101))
    assert {(job.submit_s, job.runtime_s, job.cores) for job in jobs} == {(0, 60, 1)}


def test_outcome_counts_what_completed() -> None:
    noted = {
        "a": JOB,
        "b": replace(JOB, submit_s=99.0, start_s=162.0, end_s=223.0),
        "c": replace(JOB, state="NODE_FAIL", end_s=900.0),
    }
    assert outcome(noted, 1.5, 4) == Outcome(2, 1.5, 124.0, (60.0, 61.0))
    assert outcome({}, 60.0) == Outcome(100, 60.0)


def test_comparison_is_with_real_time_and_with_the_fastest_faketime() -> None:
    real, ours = Outcome(0, 130.0, 123.0, (60.0,)), Outcome(0, 4.0, 122.0, (60.0,))
    faked = [Outcome(0, 14.0, 131.0, (63.0,)), Outcome(0, 2.0, 215.0, (64.0,)), Outcome(100, 0.5)]
    found = {row.name: (row.value, row.verdict) for row in comparison(ours, real, faked)}
    assert found == {
        "hundred-error": (1.0, "ok"),
        "hundred-error-10": (8.0, ""),
        "hundred-error-100": (92.0, ""),
        "hundred-ratio": (2.0, "missed"),
        "hundred-exact-ratio": (4.0 / 14.0, "ok"),
    }


def test_without_faketime_nothing_is_compared_with_it() -> None:
    ours = Outcome(0, 4.0, 122.0, (60.0,))
    assert [row.name for row in comparison(ours, Outcome(0, 130.0, 123.0, (60.0,)), [])] == ["hundred-error"]
    assert list(comparison(ours, None, [])) == []


def test_rows_of_a_run_in_which_nothing_completed() -> None:
    rows = list(hundred_jobs.rows_of("faketime-1000", "faketime ×1000", Outcome(100, 60.0), "stopped after 60 s"))
    assert [(row.name, row.value, row.note) for row in rows] == [
        ("hundred-faketime-1000-makespan", None, "stopped after 60 s"),
        ("hundred-faketime-1000-lost", 100, "stopped after 60 s"),
        ("hundred-faketime-1000-wall", 60.0, ""),
    ]


def test_thirty_jobs_are_the_same_every_time() -> None:
    assert thirty_jobs.make_jobs() == thirty_jobs.make_jobs()
    assert len(thirty_jobs.make_jobs()) == 30


def test_starts_are_counted_from_the_first_submission() -> None:
    jobs = [Job(1, 0, 10, 60, cores=1), Job(2, 5, 10, 60, cores=1)]
    noted = {"swf-1": replace(JOB, submit_s=100.0), "swf-2": replace(JOB, submit_s=105.0, start_s=130.0)}
    assert thirty_jobs.starts(jobs, noted) == [2.0, 30.0]
    with pytest.raises(MeasurementError, match="job 2 never started"):
        thirty_jobs.starts(jobs, {"swf-1": JOB})


def test_jobs_are_shortened_and_follow_each_other(tmp_path: Path) -> None:
    header = "job_id,submission_time,requested_number_of_resources,requested_time\n"
    (tmp_path / "jobs.csv").write_text(f"{header}7,20.0,32,60\n3,10.0,4,inf\n9,,4,60\n")
    assert jobs_of(tmp_path / "jobs.csv") == [
        Job(1, 0.0, SHORT_S, float("inf"), cores=4),
        Job(2, EVERY_S, SHORT_S, 60.0, cores=32),
    ]


def test_of_many_jobs_some_stand_for_all() -> None:
    jobs = [Job(number, number * EVERY_S, SHORT_S, 60.0, cores=number) for number in range(1, 2 * MOST_JOBS + 2)]
    some = sample(jobs)
    assert len(some) <= MOST_JOBS and [job.cores for job in some[:3]] == [1, 4, 7]
    assert [job.submit_s for job in some[:3]] == [0.0, EVERY_S, 2 * EVERY_S]
    assert sample(jobs[:MOST_JOBS]) == [replace(job, submit_s=place * EVERY_S) for place, job in enumerate(jobs[:MOST_JOBS])]


@pytest.mark.slow
def test_real_daemons_are_configured_as_the_scenario_has_it() -> None:
    assert machine_of(demo.SCENARIO) == Machine(16, 16, "bf_interval=30,bf_window=2880")
    parameters = {"AuthType": "auth/none", "CredType": "cred/none", "SlurmdTimeout": 65533}
    assert machine_of(long_runs.NASA) == Machine(128, 1, "bf_interval=30,bf_window=2880", parameters)


def test_nodes_of_one_core_have_one_socket() -> None:
    text = configuration(Machine(2, 1, parameters={"AuthType": "auth/none"}))
    assert "Sockets=1 CoresPerSocket=1" in text and "AuthType=auth/none" in text and "auth/munge" not in text


def test_real_daemons_share_no_file_and_no_port() -> None:
    text = configuration(Machine(4, 16))
    paths = [line.partition("=")[2] for line in text.splitlines() if line.startswith(("State", "SlurmdSpool", "JobCompLoc"))]
    assert all(path.startswith(HERE) for path in paths)
    ports = [word.partition("=")[2] for word in text.split() if word.startswith(("Port=", "SlurmctldPort=", "SlurmdPort="))]
    assert len(ports) == len(set(ports)) == 6
    assert [command[0] for command in daemons(4)] == ["munged", "slurmctld", *["slurmd"] * 4]


def test_prepared_files(tmp_path: Path) -> None:
    prepare(tmp_path / "real", hundred_jobs.make_jobs(), Machine(4, 16), 10, 0.0)
    assert (tmp_path / "real" / "munge.key").stat().st_mode & 0o777 == 0o400
    assert '"rate": 10' in (tmp_path / "real" / "plan.json").read_text()


def test_real_daemons_jobs_are_submitted_by_the_emulations_own_submitter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its plan has lacked a word that the submitter had come to need."""
    (tmp_path / "sbatch").write_text("#!/bin/sh\necho 7\n")
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    prepare(tmp_path / "real", hundred_jobs.make_jobs()[:2], Machine(4, 16), 10, 0.0)
    plan = json.loads((tmp_path / "real" / "plan.json").read_text())
    with (tmp_path / "log").open("w") as file:
        submitter = Submitter({**plan["jobs"], "origin": time.time()}, Flushed(file))
        submitter.run()
    assert submitter.numbers == {1: "7", 2: "7"}


def test_processor_time_of_a_process_and_its_children() -> None:
    program = "import subprocess, sys; subprocess.run(['sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'])"
    program += "; print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        spent = of_process_s(process.pid)
        process.stdin.close()
    assert spent > 0.01
    assert of_process_s(process.pid) == 0.0
    assert of_process_s(os.getpid()) > 0.0


def test_growths_exponent() -> None:
    found = [
        Growth(
            nodes=nodes,
            start_s=nodes * 0.1,
            start_cpu_s=1.0,
            memory=nodes**2,
            server=1.0,
            kernel=-1.0,
            processes=nodes,
            descriptors=nodes,
            hour_s=1.0,
            hour_cpu_s=1.0,
            job_ms=5.0,
        )
        for nodes in (16, 64, 256)
    ]
    assert exponent(found, "start_s") == pytest.approx(1)
    assert exponent(found, "memory") == pytest.approx(2)
    rows = list(rows_of(found[0], (at_most(1), None, None)))
    assert [row.verdict for row in rows] == ["missed", "", "", ""]
    assert rows[1].value == 256


def test_daemons_that_die_under_faketime_get_another_chance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [RealRun({}, 2.0, False, Cost(), "slurmd ended early"), RealRun({"a": JOB}, 1.5, True, Cost())]
    monkeypatch.setattr(real_cluster, "run_jobs", lambda *words, **options: runs.pop(0))
    with Interrupts() as interrupts:
        context = Context(tmp_path, True, interrupts, lambda text: None)
        found, said = hundred_jobs.under_faketime(context, 1000)
    assert found == Outcome(99, 1.5, 62.0, (60.0,))
    assert said == "1 of 3 starts failed, the first one: slurmd ended early"
