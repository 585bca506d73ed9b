"""Write the files that Batsim writes beside jobs.csv: schedule.csv and machine_states.csv. Each core is one of Batsim's
machines.

https://batsim.readthedocs.io/en/latest/output-schedule.html and output-machines.html.
Energy and power states are known where hosts have watts (`simunix.results.energy`), else empty and 0. Like Batsim, and unlike
`simunix.metrics`, the makespan counts from 0. Metrics that Batsim and `simunix.metrics.catalog` define alike are computed once.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.whole_files import whole_file
from simunix import __version__
from simunix.metrics.catalog import METRICS
from simunix.results.energy import SLEEPING, STATE_OF, SWITCHING_OFF, SWITCHING_ON, Consumption
from simunix.results.jobs_csv import UNKNOWN, JobRow, write_rows
from simunix.results.machines import Machines, with_resources, write_machines

if TYPE_CHECKING:
    import pandas as pd

    from simunix.report.run_data import Run
    from simunix.rjms.adapter import PowerCap

STATES = ("nb_sleeping", "nb_switching_on", "nb_switching_off", "nb_idle", "nb_computing")
OF_ALL_ENDS = (
    "makespan",
    "nb_jobs_finished",
    "nb_jobs_killed",
    "nb_jobs_success",
    "success_rate",
    "time_computing",
    "time_idle",
)
"""The columns of schedule.csv that are unknown as long as the end of any job is unknown."""
OF_METRICS = (
    "max_slowdown",
    "max_turnaround_time",
    "max_waiting_time",
    "mean_slowdown",
    "mean_turnaround_time",
    "mean_waiting_time",
)
"""The columns of schedule.csv, in Batsim's order, that equal a metric of `simunix.metrics.catalog`."""
KILLED = ("TIMEOUT", "CANCELLED", "PREEMPTED", "DEADLINE")


def write_all(
    directory: Path,
    rows: Sequence[JobRow],
    machines: Machines,
    wall_s: float,
    consumed: Consumption | None = None,
    caps: Sequence[PowerCap] = (),
) -> Run:
    """Write jobs.csv, schedule.csv, machine_states.csv and machines.csv and, if the run's energy was measured, the
    files about energy.

    Return the run as reports read it from the folder, so that printed metrics equal those of the files.
    """
    from simunix.report.run_data import read_run  # imports pandas, which takes long, and which a run without jobs does not need

    placed = with_metrics(with_resources(rows, machines))
    if consumed is not None:
        placed = consumed.of_jobs(placed)
        consumed.write(directory, placed, caps)
    write_rows(directory / "jobs.csv", placed)
    write_machines(directory / "machines.csv", machines)
    _write(directory / "machine_states.csv", machine_states(frame(placed), machines.total, consumed))
    run = read_run(directory)
    _write(directory / "schedule.csv", [schedule(run, wall_s, consumed)])
    return run


def with_metrics(rows: Sequence[JobRow]) -> list[JobRow]:
    """Return the rows with wait, turnaround and stretch as `simunix.metrics.per_job` defines them, to the microsecond."""
    from simunix.metrics.per_job import slowdown, turnaround_time, waiting_time

    jobs = frame(rows)
    values = zip(rows, *map(_rounded, (waiting_time(jobs), turnaround_time(jobs), slowdown(jobs))), strict=True)
    return [replace(row, waiting_time=wait, turnaround_time=turn, stretch=stretch) for row, wait, turn, stretch in values]


def _rounded(column: pd.Series) -> list[float | None]:
    return [None if one != one else round(float(one), 6) for one in column.tolist()]


def frame(rows: Sequence[JobRow]) -> pd.DataFrame:
    """Return the job table of these rows."""
    import pandas as pd

    from simunix.metrics.jobs import job_table, settled

    columns = {field.name: [_known(getattr(row, field.name)) for row in rows] for field in fields(JobRow)}
    return job_table(settled(pd.DataFrame(columns)))


def _known(value: object) -> object:
    """Return None for values that jobs.csv leaves empty."""
    return None if value == "" else value


def schedule(run: Run, wall_s: float, consumed: Consumption | None = None) -> dict[str, object]:
    """Return the columns of Batsim's schedule.csv for one run, in Batsim's order.

    Columns that equal a metric of the catalogue have the run's own value, over the jobs that count.
    """
    from simunix.metrics.per_job import area

    assert run.jobs is not None
    jobs, processors = run.jobs, run.processors
    state = jobs["final_state"].astype(str)
    last = float(jobs["finish_time"].max()) if jobs["finished"].any() else 0.0
    computing = float(area(jobs[jobs["finished"]]).sum())
    submitted = jobs["submission_time"].notna()
    found: dict[str, object] = {
        "batsim_version": f"simunix {__version__}",
        "consumed_joules": math.nan,
        "makespan": last,
        **dict.fromkeys(OF_METRICS, math.nan),
        "nb_computing_machines": processors,
        "nb_grouped_switches": 0,
        "nb_jobs": int(submitted.sum()),
        "nb_jobs_finished": 0,
        "nb_jobs_killed": int((jobs["finished"] & state.str.startswith(KILLED)).sum()),
        "nb_jobs_rejected": int((state == "REJECTED").sum()),
        "nb_jobs_success": int((jobs["success"].astype(int) == 1).sum()),
        "nb_machine_switches": 0,
        "scheduling_time": "",
        "simulation_time": wall_s,
        "success_rate": float((jobs["success"].astype(int) == 1).sum() / submitted.sum()) if submitted.any() else 0.0,
        "time_computing": computing,
        "time_idle": max(0.0, processors * last - computing),
        "time_sleeping": 0,
        "time_switching_off": 0,
        "time_switching_on": 0,
        "time_unavailable": 0,
    }
    found |= {metric.batsim: float(run.summary[metric.name]) for metric in METRICS if metric.batsim and len(run.summary)}
    if consumed is not None:
        found |= _switched(found, consumed, last)
    return found | dict.fromkeys(OF_ALL_ENDS if (state == UNKNOWN).any() else (), "")


def _switched(found: dict[str, object], consumed: Consumption, last: float) -> dict[str, object]:
    """Return the columns about a run's power states, from the start to `last`, the end of the last job in seconds."""
    changes = consumed.grouped()
    away = dict.fromkeys(STATE_OF.values(), 0.0)
    for time, state, cores in consumed.unavailable():
        away[state] += cores * max(0.0, last - time)
    return {
        "nb_grouped_switches": len(changes),
        "nb_machine_switches": sum(consumed.machines.cores[name] for _, _, names in changes for name in names),
        "time_idle": max(0.0, float(str(found["time_idle"])) - sum(away.values())),
        "time_sleeping": away[SLEEPING],
        "time_switching_off": away[SWITCHING_OFF],
        "time_switching_on": away[SWITCHING_ON],
    }


def machine_states(jobs: pd.DataFrame, processors: int, consumed: Consumption | None = None) -> list[dict[str, object]]:
    """Return a row for every change of the number of cores in each state, from virtual time 0 on. Cores of a host that
    is off do not compute.
    """
    from simunix.metrics.series import busy_processors

    held = jobs.assign(requested_number_of_resources=jobs["allocated_cores"].where(jobs["finished"]))
    busy = {0.0: 0.0} | {float(str(time)): float(count) for time, count in busy_processors(held).to_dict().items()}
    changes = consumed.unavailable() if consumed is not None else []
    away = dict.fromkeys(STATE_OF.values(), 0)
    rows: list[dict[str, object]] = []
    count = 0.0
    for time in sorted({*busy, *(each[0] for each in changes)}):
        count = busy.get(time, count)
        while changes and changes[0][0] <= time:
            _, state, cores = changes.pop(0)
            away[state] += cores
        there = processors - sum(away.values())
        computing = min(int(count), there)
        rows.append({"time": time, **dict.fromkeys(STATES, 0), **away, "nb_idle": there - computing, "nb_computing": computing})
    return rows


def _write(path: Path, rows: Sequence[dict[str, object]]) -> None:
    with whole_file(path) as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({key: _text(value) for key, value in row.items()} for row in rows)


def _text(value: object) -> object:
    if not isinstance(value, float):
        return value
    return "" if value != value else f"{value:.6f}".rstrip("0").rstrip(".")
