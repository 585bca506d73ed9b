"""Benchmarks that take an hour or more: three months of the NASA iPSC, and an hour of Curie at its full size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simunix_bench.context import CHECKOUT, Context
from simunix_bench.native_cost import native_ratio
from simunix_bench.row import Row, at_least, at_most

MINUTE_S = 60
NASA = CHECKOUT / "scenarios" / "nasa-ipsc-whole.yaml"


def nasa(context: Context) -> Iterator[Row]:
    """Run the whole log of the NASA iPSC (with --quick, its first five days), and yield the rows."""
    until = ("--until", "5d") if context.is_quick else ()
    record, out = context.scenario(NASA, *until)
    what = "NASA iPSC, 5 days" if context.is_quick else "NASA iPSC, 92 days"
    done = f"{record['jobs'].get('COMPLETED', 0):,} of {sum(record['jobs'].values()):,} jobs completed"
    aim = None if context.is_quick else at_most(15)
    yield Row("nasa-wall", f"{what}: wall time", record["wall_s"] / MINUTE_S, "min", aim, done)
    yield Row("nasa-speed-up", f"{what}: virtual seconds per wall second", record["virtual_s"] / record["wall_s"])
    yield Row("nasa-server", f"{what}: the server's CPU time", record["server_cpu_s"], "s", is_detail=True)
    yield from native_ratio(context, "nasa", NASA, record, out / "jobs.csv")


def curie(context: Context) -> Iterator[Row]:
    """Run the hour of Curie twice (with --quick, its first five minutes), and yield the rows."""
    until = ("--until", "5min") if context.is_quick else ()
    records = []
    for time in ("once", "twice"):
        context.say(f"an hour of Curie, {time}")
        record, out = context.scenario(CHECKOUT / "scenarios" / "curie.yaml", *until)
        records.append(record)
        if len(records) == 1:
            speed, note = record["virtual_s"] / record["wall_s"], _outcome(record, out)
            yield Row("curie-speed-up", "Curie, 5,040 nodes: virtual seconds per wall second", speed, "", at_least(1), note)
    same = sum(record["events_sha256"] == records[0]["events_sha256"] for record in records)
    yield Row("curie-same", "Curie, 5,040 nodes: runs of two with the same event log", same, "", at_least(2))


def _outcome(record: dict[str, Any], out: Path) -> str:
    """Return a text on the states of the jobs, and on what `sinfo` printed inside of the emulation when all nodes
    should be up.
    """
    jobs = ", ".join(f"{count:,} {state.lower()}" for state, count in sorted(record["jobs"].items()))
    fields = (out / "hosts" / "login" / "up.out").read_text().splitlines()[-1].split()
    return f"{sum(record['jobs'].values()):,} jobs accounted for ({jobs}); sinfo: {int(fields[3]):,} nodes {fields[4]}"
