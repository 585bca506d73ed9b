"""`simunix sweep`: the runs of an experiment side by side are those that one would make one by one, however it ends."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from simunix.sweep.engine import connected
from tests.conftest import ROOT, Simunix

pytestmark = pytest.mark.slow

TOY = """
name: toy
hosts: [{name: 'a,b', cores: 2}]
network: {latency: 1ms}
processes:
  - name: server
    host: a
    command: [python3, -c, "import socket; c, _ = socket.create_server(('', 5000)).accept(); print(len(c.recv(999)))"]
  - name: client
    host: b
    start: 1s
    command: [python3, -c, "import random, socket; socket.create_connection(('a', 5000)).sendall(bytes(random.randrange(999)))"]
"""
EXPERIMENT = """
name: toys
scenario: toy.yaml
factors:
  network.latency: [1ms, 20ms]
  network.bandwidth: [1Mbps, 1Gbps]
repetitions: 2
"""
ENDLESS = """
name: endless
hosts: [{name: a}]
processes: [{name: p, host: a, command: "while sleep 0.001; do :; done"}]
"""


def table(out: Path) -> list[dict[str, str]]:
    with (out / "results.csv").open() as file:
        return list(csv.DictReader(file))


def digest(out: Path) -> str:
    found: str = json.loads((out / "run.json").read_text())["events_sha256"]
    return found


@contextmanager
def started(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A `simunix` that runs meanwhile; whatever is left of it afterwards is an error."""
    command = [sys.executable, "-m", "simunix.cli.main", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        process_group=0,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def left_of(folder: Path) -> list[psutil.Process]:
    """Processes that have to do with a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(folder) in word for word in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def until(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_eight_runs_over_two_workers_are_eight_single_runs(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "toy.yaml").write_text(TOY)
    (tmp_path / "e.yaml").write_text(EXPERIMENT)
    done = simunix("sweep", tmp_path / "e.yaml", "-o", tmp_path / "out", "--workers", 2, timeout=200)
    assert done.returncode == 0, done.stderr
    assert "8 runs: 8 done" in done.stdout
    rows = table(tmp_path / "out")
    for index, row in enumerate(rows):
        single = tmp_path / f"single{index}"
        keys = [f"network.{name}={row[f'network.{name}']}" for name in ("latency", "bandwidth")]
        settings = [word for key in keys for word in ("--set", key)]
        done = simunix("run", tmp_path / "toy.yaml", "--seed", row["seed"], *settings, "--out", single)
        assert done.returncode == 0, done.stderr
        assert digest(single) == row["digest"]
    assert len({row["digest"] for row in rows}) == 8
    assert {row["deterministic"] for row in rows} == {"True"}


def test_a_killed_sweep_goes_on_where_it_was(simunix: Simunix, tmp_path: Path) -> None:
    """Killed, not asked: its workers and their runs end with it."""
    (tmp_path / "toy.yaml").write_text(TOY)
    (tmp_path / "e.yaml").write_text(EXPERIMENT)
    out = tmp_path / "out"
    with started("sweep", tmp_path / "e.yaml", "-o", out, "--workers", 2) as process:
        until(lambda: list(out.glob("runs/*/run.json")), "no run has ended")
        process.kill()
    until(lambda: not left_of(tmp_path), f"still there: {left_of(tmp_path)}")
    kept = (
        {row["run"]: row["digest"] for row in table(out) if row["status"] == "done"} if (out / "results.csv").exists() else {}
    )
    before = {path: path.stat().st_mtime_ns for path in out.glob("runs/*/run.json")}
    assert 0 < len(before) < 8
    again = simunix("sweep", tmp_path / "e.yaml", "-o", out, timeout=200)
    assert again.returncode == 2 and "go on with --resume" in again.stderr
    done = simunix("sweep", tmp_path / "e.yaml", "-o", out, "--resume", timeout=200)
    assert done.returncode == 0, done.stderr
    rows = {row["run"]: row for row in table(out)}
    assert {row["status"] for row in rows.values()} == {"done"}
    for name, digest_before in kept.items():
        assert rows[name]["digest"] == digest_before
    unchanged = [path for path, mtime in before.items() if path.stat().st_mtime_ns == mtime]
    assert f"({len(unchanged)} kept from before)" in done.stdout and unchanged
    (tmp_path / "e.yaml").write_text(EXPERIMENT.replace("20ms]", "20ms, 40ms]"))
    done = simunix("sweep", tmp_path / "e.yaml", "-o", out, "--resume", timeout=200)
    assert "12 runs: 12 done (8 kept from before)" in done.stdout, done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "s.yaml").write_text(ENDLESS)
    (tmp_path / "e.yaml").write_text("scenario: s.yaml\nrepetitions: 5\n")
    out = tmp_path / "out"
    with started("sweep", tmp_path / "e.yaml", "-o", out, "--workers", 2) as process:
        until(lambda: len(list(out.glob("runs/*/events.jsonl"))) == 2, "no two runs at a time")
        os.killpg(process.pid, number)  # as a terminal does: its workers get it too
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; go on with: simunix sweep" in errors
    assert "Traceback" not in errors
    assert left_of(tmp_path) == []
    statuses = [row["status"] for row in table(out)]
    assert statuses == ["interrupted", "interrupted", "missing", "missing", "missing"]
    assert {path.name for path in out.iterdir()} == {".simunix-sweep", "experiment.yaml", "results.csv", "runs"}


def test_a_failed_run_is_said_and_counted(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        ENDLESS.replace("while sleep 0.001; do :; done", "exit 3").replace("host: a", "host: a, essential: true")
    )
    (tmp_path / "e.yaml").write_text("scenario: s.yaml\nfactors: {stop: [time, processes]}\nset: {until: 5s}\n")
    done = simunix("sweep", tmp_path / "e.yaml", "-o", tmp_path / "out", timeout=100)
    assert done.returncode == 1
    assert "2 runs: 2 failed" in done.stdout
    assert "p ended with exit code 3" in done.stderr
    assert all("exit code 3" in row["failure"] for row in table(tmp_path / "out"))


def test_the_workers_of_somebody_elses_scheduler(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "toy.yaml").write_text(TOY)
    (tmp_path / "e.yaml").write_text("scenario: toy.yaml\nrepetitions: 2\n")
    file = tmp_path / "scheduler.json"
    log = subprocess.DEVNULL
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_TEMPORARY_DIRECTORY": str(tmp_path)}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    work = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard"]
    with ExitStack() as stack:
        for program in (dask, work):
            process = subprocess.Popen([*program, "--scheduler-file", str(file)], env=environment, cwd=tmp_path, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        until(lambda: file.exists() and file.read_text().endswith("}"), "no scheduler")
        address = json.loads(file.read_text())["address"]
        done = simunix("sweep", tmp_path / "e.yaml", "-o", tmp_path / "out", "--scheduler", address, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "2 runs: 2 done" in done.stdout
    done = simunix("sweep", tmp_path / "e.yaml", "-o", tmp_path / "other", "--scheduler", "tcp://127.0.0.1:1", timeout=100)
    assert done.returncode == 2
    assert "--scheduler tcp://127.0.0.1:1" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_two_sweeps_at_once_are_no_matter(tmp_path: Path) -> None:
    """Dask's scheduler of each has its pages on a port of its own; warnings are errors here."""
    with connected(None, 1, tmp_path / "a") as first, connected(None, 1, tmp_path / "b") as second:
        assert [client.submit(abs, -7).result() for client in (first, second)] == [7, 7]


TRACE = """
1 0 -1 600 8 -1 -1 8 600 -1 1 1 1 -1 1 1 -1 -1
2 1 -1 100 16 -1 -1 16 100 -1 1 1 1 -1 1 1 -1 -1
3 2 -1 60 4 -1 -1 4 60 -1 1 1 1 -1 1 1 -1 -1
"""
CLUSTER = """
name: cluster
hosts: [{name: ctl, cores: 4}, {name: 'n[1-2]', cores: 8}]
slurm: {controller: ctl, nodes: 'n[1-2]'}
workload: {trace: t.swf}
"""


@pytest.mark.slurm
def test_parameters_of_slurm_conf_are_factors(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "t.swf").write_text(TRACE)
    (tmp_path / "s.yaml").write_text(CLUSTER)
    (tmp_path / "e.yaml").write_text(
        "scenario: s.yaml\nfactors: {slurm.parameters.SchedulerType: [sched/backfill, sched/builtin]}\nseeds: [0, 0]\n"
    )
    done = simunix("sweep", tmp_path / "e.yaml", "-o", tmp_path / "out", timeout=200)
    assert done.returncode == 0, done.stderr
    rows = table(tmp_path / "out")
    by_level = [
        [row for row in rows if row["slurm.parameters.SchedulerType"] == f"sched/{name}"] for name in ("backfill", "builtin")
    ]
    for same in by_level:
        assert len(same) == 2 and len({row["digest"] for row in same}) == 1
    assert by_level[0][0]["digest"] != by_level[1][0]["digest"]
    assert {(row["jobs"], row["finished"]) for row in rows} == {("3", "3")}
    # Only with backfill does the third job run beside the first, while the second waits for all nodes.
    assert float(by_level[0][0]["mean_waiting_time"]) < float(by_level[1][0]["mean_waiting_time"])
    conf = (next((tmp_path / "out/runs").glob("*builtin*/hosts/ctl")) / "files/etc_slurm/slurm.conf").read_text()
    assert conf.count("SchedulerType=") == 1 and "SchedulerType=sched/builtin\n" in conf


FACTORIAL = """
name: factorial
scenario: s.yaml
factors:
  slurm.parameters.SchedulerType: [sched/backfill, sched/builtin]
  network.latency: [50us, 20ms]
repetitions: 2
"""
NODES = CLUSTER.replace("n[1-2]", "n[1-4]")
JOB = "{} {} -1 {} {} -1 -1 -1 90 -1 1 {} 1 -1 1 1 -1 -1\n"
DOZEN = "".join(JOB.format(n, 7 * n, 20 + 13 * n % 60, 1 + 5 * n % 12, n % 3) for n in range(1, 13))


@pytest.mark.slurm
def test_eight_runs_of_slurm_over_two_workers_are_eight_single_runs(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "t.swf").write_text(DOZEN)
    (tmp_path / "s.yaml").write_text(NODES)
    (tmp_path / "e.yaml").write_text(FACTORIAL)
    done = simunix("sweep", tmp_path / "e.yaml", "-o", tmp_path / "out", "--workers", 2, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "8 runs: 8 done" in done.stdout
    rows = table(tmp_path / "out")

    def repeat(row: dict[str, str]) -> Path:
        """The same run by itself."""
        single = tmp_path / f"single-{row['run']}"
        keys = [f"{name}={row[name]}" for name in ("slurm.parameters.SchedulerType", "network.latency")]
        settings = [word for key in keys for word in ("--set", key)]
        done = simunix("run", tmp_path / "s.yaml", "--seed", row["seed"], *settings, "--out", single, timeout=200)
        assert done.returncode == 0, done.stderr
        return single

    with ThreadPoolExecutor(2) as pool:
        singles = list(pool.map(repeat, rows))
    for row, single in zip(rows, singles, strict=True):
        assert digest(single) == row["digest"], row["run"]
        assert (single / "jobs.csv").read_bytes() == (tmp_path / "out/runs" / row["run"] / "jobs.csv").read_bytes()
    assert {row["deterministic"] for row in rows} == {"True"}
    assert {(row["jobs"], row["finished"]) for row in rows} == {("12", "12")}
    # Slurm draws nothing at random that its log shows: repetitions are the same, every combination of levels is another run.
    assert Counter(Counter(row["digest"] for row in rows).values()) == {2: 4}
