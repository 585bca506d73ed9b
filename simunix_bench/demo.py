"""Measure the demo, a day of the NASA iPSC on 16 nodes: its speed, and the ratio of its wall time to Slurm's native
processor time.
"""

from __future__ import annotations

from collections.abc import Iterator

from simunix_bench.context import CHECKOUT, Context
from simunix_bench.native_cost import native_ratio
from simunix_bench.row import Row, at_most

SCENARIO = CHECKOUT / "scenarios" / "nasa-ipsc.yaml"
QUICK_UNTIL = "6h"


def demo(context: Context) -> Iterator[Row]:
    """Run the demo once (with --quick, its first six hours), and yield the rows."""
    record, out = context.scenario(SCENARIO, *(("--until", QUICK_UNTIL) if context.is_quick else ()))
    wall_s, inside_s = record["wall_s"], record["wall_s"] - record["server_cpu_s"]
    yield Row("demo-speed-up", "demo: virtual seconds per wall second", record["virtual_s"] / wall_s)
    yield Row("demo-wall", "demo: wall time", wall_s, "s")
    yield Row("demo-server", "demo: the server's CPU time", record["server_cpu_s"], "s")
    yield Row(
        "demo-emulated-ratio",
        "demo: wall ÷ CPU time of the emulated daemons and clients",
        wall_s / inside_s,
        "×",
        note="all share one core: what of it the server did not use, they did (the shim in them included), or other work here",
    )
    yield from native_ratio(context, "demo", SCENARIO, record, out / "jobs.csv", at_most(1.5))
