"""Run directories made without a run: jobs on a machine of nodes, placed by a simple first-come-first-served scheduler."""

from __future__ import annotations

import heapq
import json
import random
from pathlib import Path

from simunix.report.batsim_files import write_all
from simunix.results.jobs_csv import JobRow
from simunix.results.machines import Machines
from simunix.results.run_json import RunRecord


def machines(nodes: int, cores: int = 16) -> Machines:
    """node0001 … with as many cores each."""
    return Machines({f"node{number:04d}": cores for number in range(1, nodes + 1)})


def rows(count: int, nodes: int, seed: int = 0, mean_gap_s: float = 30.0, name: str = "w") -> list[JobRow]:
    """Jobs of whole nodes, of 16 cores; they start in the order of their submission."""
    chance = random.Random(seed)
    free = [(0.0, node) for node in range(1, nodes + 1)]
    heapq.heapify(free)
    submitted, started, found = 10.0, 0.0, []
    for number in range(1, count + 1):
        submitted += round(chance.expovariate(1 / mean_gap_s))
        size = min(nodes, 2 ** chance.randrange(0, 7))
        length = float(round(chance.lognormvariate(6, 1.5)) + 1)
        taken = [heapq.heappop(free) for _ in range(size)]
        started = max(started, submitted, max(moment for moment, _ in taken))
        for _, node in taken:
            heapq.heappush(free, (started + length, node))
        found.append(
            JobRow(
                job_id=number,
                workload_name=name,
                profile=f"sleep {length:g}",
                submission_time=submitted,
                requested_number_of_resources=16 * size,
                requested_time=length * 2,
                success=1,
                final_state="COMPLETED",
                starting_time=started,
                execution_time=length,
                finish_time=started + length,
                waiting_time=started - submitted,
                turnaround_time=started + length - submitted,
                stretch=(started + length - submitted) / length,
                allocated_hosts=",".join(f"node{node:04d}" for _, node in sorted(taken, key=lambda pair: pair[1])),
                allocated_cores=16 * size,
            )
        )
    return found


def ran(
    number: int, submit: float, start: float, end: float, hosts: str, cores: int = 16, state: str = "COMPLETED", name: str = "w"
) -> JobRow:
    """A job that ran on these hosts; `name` is that of its workload and of its profile."""
    return JobRow(
        job_id=number,
        workload_name=name,
        profile=name,
        submission_time=submit,
        requested_number_of_resources=cores,
        requested_time=60,
        success=int(state == "COMPLETED"),
        final_state=state,
        starting_time=start,
        execution_time=end - start,
        finish_time=end,
        allocated_hosts=hosts,
        allocated_cores=cores,
    )


def waiting(number: int, submit: float, cores: int = 16) -> JobRow:
    """A job that was submitted and has not started."""
    return JobRow(
        job_id=number,
        workload_name="w",
        profile="",
        submission_time=submit,
        requested_number_of_resources=cores,
        requested_time=60,
        success=0,
        final_state="PENDING",
    )


def skipped(number: int) -> JobRow:
    """A job of the trace that could not be submitted."""
    return JobRow(
        job_id=number,
        workload_name="w",
        profile="",
        submission_time=None,
        requested_number_of_resources=0,
        requested_time=-1,
        success=0,
        final_state="SKIPPED",
    )


def record(name: str = "example", seed: int = 0) -> RunRecord:
    """What a run of Slurm leaves in run.json."""
    return RunRecord(
        name=name,
        simunix="0.1.0",
        rjms="slurm 22.05.8",
        seed=seed,
        cpu_policy="free",
        network_model="LV08",
        isolation="all",
        ended="done",
        failure=None,
        virtual_s=1000.0,
        wall_s=2.0,
        server_cpu_s=1.0,
        server="compiled",
        turns=10,
        events_sha256=f"{seed:064x}",
    )


def write_run(
    directory: Path, jobs: list[JobRow], nodes: int, seed: int = 0, scenario: str = "name: example\n", cores: int = 16
) -> Path:
    """A finished run's folder."""
    directory.mkdir(parents=True)
    (directory / ".simunix-run").touch()
    (directory / "scenario.yaml").write_text(scenario)
    (directory / "events.jsonl").write_text(events())
    written = record(directory.name, seed)
    if jobs:
        summary = write_all(directory, jobs, machines(nodes, cores), 2.0).summary
        written.metrics = {str(name): None if value != value else float(value) for name, value in summary.items()}
    written.write(directory / "run.json")
    return directory


def events() -> str:
    """A short log: two processes, a connection, a signal."""
    lines = [
        {"t": 0, "event": "process_start", "host": "node0001", "number": 1, "argv": ["/usr/sbin/slurmd", "-D"]},
        {"t": 5000, "event": "process_start", "host": "node0002", "number": 2, "argv": ["/bin/client"]},
        {"t": 9000, "event": "listen", "host": "node0001", "port": 6818},
        {"t": 20000, "event": "connect", "host": "node0001", "source": "10.0.0.1:4000", "destination": "10.0.0.2:6817"},
        {"t": 30000, "event": "connect", "host": "node0002", "source": "10.0.0.2:4001", "destination": "10.0.0.1:6818"},
        {"t": 40000, "event": "signal", "host": "node0001", "sender": 1, "pid": 1, "tid": 1, "signal": 10},
        {"t": 50000, "event": "process_exit", "host": "node0002", "number": 2, "pid": 7, "program": "/bin/client", "status": 0},
        {
            "t": 60000,
            "event": "process_exit",
            "host": "node0001",
            "number": 9,
            "pid": 8,
            "program": "/bin/true",
            "status": 256,
            "born": 41000,
        },
    ]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
