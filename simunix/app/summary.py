"""The end of a run on the terminal: a short table of results, then sentences that explain it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from simunix.app.refused import refused_lines
from simunix.console import Console
from simunix.metrics.catalog import BY_NAME
from simunix.metrics.written import is_shown, written
from simunix.planning.expand import Expansion
from simunix.results.jobs_csv import JobRow
from simunix.results.run_json import RunRecord
from simunix.units import human_time

SHOWN = (
    "mean_waiting_time",
    "mean_bounded_slowdown",
    "utilisation",
    "makespan",
    "restarts",
    "preemptions",
    "lost_core_seconds",
    "lost_gpu_seconds",
    "machine_energy",
)
"""The metrics in the table of a run. The last five of these are shown only if their value is known, and some only if it
is not 0.
"""
ALWAYS = 4


def figures(record: RunRecord) -> dict[str, str]:
    """Return the metrics of a schedule in run.json as formatted texts, by title, in the notation of the report's page."""
    found = {}
    for place, name in enumerate(SHOWN):
        metric, value = BY_NAME[name], record.metrics.get(name)
        if place < ALWAYS or is_shown(metric, [value]):
            found[metric.title] = "unknown" if value is None else written(metric, value)
    return found


def run_table(record: RunRecord, rows: Sequence[JobRow]) -> Table:
    """Return the table of a run: number of jobs in each final state, waits, utilisation, times."""
    table = Table(title=f"simunix: {record.name}", show_header=False, title_justify="left")
    table.add_column("what", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    for state, count in sorted(Counter(row.final_state for row in rows).items()):
        table.add_row(f"jobs {state.lower().replace('_', ' ')}", f"{count:,}")
    if rows:
        for what, value in figures(record).items():
            table.add_row(what, value)
    table.add_row("virtual time", human_time(record.virtual_s))
    table.add_row("wall time", human_time(record.wall_s))
    table.add_row("speed-up", f"{record.speed_up:,.0f} ×")
    for context in record.contexts:
        table.add_row(f"context of {context['workload']}", "established" if context["established"] else "NOT established")
    table.add_row("event log (sha256)", record.events_sha256[:16] + "…")
    return table


def _repeatability(record: RunRecord, directory: Path) -> str:
    """Return a sentence that says whether another run with this scenario and seed has an equal event log."""
    if record.deterministic:
        return f"Run again with the same scenario and seed, {directory}/events.jsonl comes out the same to the byte."
    reasons = "; ".join(escape(reason) for reason in record.disturbances)
    return f"[bold red]NOT repeatable to the byte[/]: {reasons}."


def print_report(record: RunRecord, rows: Sequence[JobRow], expansion: Expansion, directory: Path, compared: str = "") -> None:
    """Print the table of a run, sentences that explain it, the comparison with a recorded run in `compared`, and which
    files tell more.
    """
    console = Console(highlight=False, soft_wrap=True)
    console.print(run_table(record, rows))
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
    if compared:
        console.print(escape(compared))
    console.print("Where to look next:")
    if rows:
        console.print(f"  {directory}/jobs.csv      a line per job (Batsim's columns)")
    console.print(f"  {directory}/run.json      what was run, with which versions, how fast")
    console.print(f"  {directory}/events.jsonl  what happened: processes, connections, signals")
    console.print(f"  {directory}/hosts/        each host's private files and its daemons' logs")
