"""The end of a run on the terminal: a short table, then what it means in plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from simunix.app.refused import refused_lines
from simunix.console import Console
from simunix.planning.expand import Expansion
from simunix.results.jobs_csv import TAU_S, JobRow
from simunix.results.run_json import RunRecord
from simunix.units import human_time


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0 for no values."""
    return sum(values) / len(values) if values else 0.0


def utilisation(rows: Sequence[JobRow], cores: int) -> float:
    """Core-seconds for which jobs ran, divided by those of all cores from the first submission to the last end."""
    ran = [row for row in rows if row.finish_time is not None and row.submission_time is not None]
    if not ran or not cores:
        return 0.0
    span = max(row.finish_time or 0.0 for row in ran) - min(row.submission_time or 0.0 for row in ran)
    busy = sum((row.execution_time or 0.0) * row.requested_number_of_resources for row in ran)
    return busy / (cores * span) if span > 0 else 0.0


def makespan_s(rows: Sequence[JobRow]) -> float:
    """Seconds from the first submission to the last end."""
    ends = [row.finish_time for row in rows if row.finish_time is not None]
    starts = [row.submission_time for row in rows if row.submission_time is not None]
    return max(ends) - min(starts) if ends and starts else 0.0


def replayed(record: RunRecord, rows: Sequence[JobRow]) -> list[JobRow]:
    """The rows without the jobs of a context, whose waits belong to the time before the replay."""
    context = {(one["workload"], job) for one in record.contexts for job in (*one["running"], *one["waiting"])}
    return [row for row in rows if (row.workload_name, row.job_id) not in context]


def run_table(record: RunRecord, rows: Sequence[JobRow], cores: int) -> Table:
    """The table of a run: jobs by final state, waits, utilisation, times."""
    table = Table(title=f"simunix: {record.name}", show_header=False, title_justify="left")
    table.add_column("what", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    for state, count in sorted(Counter(row.final_state for row in rows).items()):
        table.add_row(f"jobs {state.lower().replace('_', ' ')}", f"{count:,}")
    if rows:
        counted = replayed(record, rows)
        waits = [row.waiting_time for row in counted if row.waiting_time is not None]
        slowdowns = [value for row in counted if (value := row.bounded_slowdown) is not None]
        table.add_row("mean wait", human_time(mean(waits)))
        table.add_row(f"mean bounded slowdown (τ = {TAU_S:g} s)", f"{mean(slowdowns):.2f}")
        table.add_row("utilisation", f"{utilisation(rows, cores):.1%}")
        table.add_row("makespan", human_time(makespan_s(rows)))
    table.add_row("virtual time", human_time(record.virtual_s))
    table.add_row("wall time", human_time(record.wall_s))
    table.add_row("speed-up", f"{record.speed_up:,.0f} ×")
    for context in record.contexts:
        table.add_row(f"context of {context['workload']}", "established" if context["established"] else "NOT established")
    table.add_row("event log (sha256)", record.events_sha256[:16] + "…")
    return table


def _repeatability(record: RunRecord, directory: Path) -> str:
    """Whether another run comes out the same, in plain words."""
    if record.deterministic:
        return f"Run again with the same scenario and seed, {directory}/events.jsonl comes out the same to the byte."
    reasons = "; ".join(escape(reason) for reason in record.disturbances)
    return f"[bold red]NOT repeatable to the byte[/]: {reasons}."


def print_report(record: RunRecord, rows: Sequence[JobRow], expansion: Expansion, directory: Path) -> None:
    """Print the table of a run, what it means, and which file tells more."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(run_table(record, rows, sum(cluster.cores for cluster in expansion.clusters)))
    text = f"{len(expansion.plan.hosts)} hosts ran their real daemons for {human_time(record.virtual_s)} of virtual time"
    if rows:
        submitted = sum(row.submission_time is not None for row in rows)
        clients = " and ".join(dict.fromkeys(cluster.rjms.clients.names[0] for cluster in expansion.clusters))
        text += f"; {submitted:,} jobs of the trace went through the real {clients}, and the RJMS's own accounting tells"
        text += " when and where each ran"
    console.print(text + ".")
    for context in record.contexts:
        for reason in context["reasons"]:
            console.print(f"[bold red]INVALID[/]: the context of {context['workload']} was not established: {escape(reason)}")
    for line in refused_lines(rows, {workload.label: workload.trace for workload in expansion.workloads}):
        console.print(f"[bold red]REFUSED[/]: {escape(line)}")
    console.print(_repeatability(record, directory))
    console.print("Where to look next:")
    if rows:
        console.print(f"  {directory}/jobs.csv      a line per job (Batsim's columns)")
    console.print(f"  {directory}/run.json      what was run, with which versions, how fast")
    console.print(f"  {directory}/events.jsonl  what happened: processes, connections, signals")
    console.print(f"  {directory}/hosts/        each host's private files and its daemons' logs")
