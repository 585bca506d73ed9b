"""Run the clusters of `simunix bench growth` with any numbers of nodes, and print every figure; `--chart` draws a
picture.

    python benchmarks/growth.py [SIZE ...] [--hours H] [--json FILE] [--chart FILE.png] [--merge auto|yes|no]

The script makes one run for each number of nodes, one run after the other. The docstring of simunix_bench/growth.py
says what is measured, and how. The last row of the table has the exponent k of the curve c · nodes^k that fits each
column best.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

# sys.path[0] was this folder, and Python would import benchmarks/platform.py in the place of its own module platform
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from simunix.launch.interrupts import Interrupts  # noqa: E402
from simunix_bench.context import Context, MeasurementError  # noqa: E402
from simunix_bench.growth import SMALL, Growth, exponent, measure, plain  # noqa: E402

TITLES = (
    "nodes",
    "start, s",
    "CPU",
    "memory, MiB",
    "server",
    "kernel",
    "processes",
    "server's files",
    "idle hour, s",
    "CPU",
    "job, ms",
)
FITTED = {"start_s", "start_cpu_s", "memory", "server", "kernel", "processes", "descriptors", "hour_s", "hour_cpu_s", "job_ms"}


def table(rows: Sequence[Growth]) -> str:
    """Return the table of all measured clusters in Markdown."""
    lines = ["| " + " | ".join(TITLES) + " |", "| " + " | ".join("---:" for _ in TITLES) + " |"]
    for row in rows:
        values = asdict(row).values()
        lines.append(
            "| " + " | ".join(f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" for value in values) + " |"
        )
    ends = [f"{exponent(rows, each.name):.2f}" if each.name in FITTED else "k" for each in fields(Growth)]
    return "\n".join([*lines, "| " + " | ".join(ends) + " |"])


def draw(rows: Sequence[Growth], file: Path) -> None:
    """Draw each figure as a curve over the number of nodes, with the exponent of its growth."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    panels = (
        ("until all nodes are idle", "seconds", ("start_s", "start_cpu_s")),
        ("memory", "MiB", ("memory", "kernel", "server")),
        ("an idle virtual hour", "seconds", ("hour_s", "hour_cpu_s")),
        ("a job", "milliseconds", ("job_ms",)),
    )
    for axis, (title, unit, names) in zip(axes.flat, panels, strict=True):
        for name in names:
            label = f"{plain(name).replace('_', ' ')}: nodes$^{{{exponent(rows, name):.2f}}}$"
            axis.loglog([row.nodes for row in rows], [getattr(row, name) for row in rows], "o-", label=label)
        axis.set(title=title, xlabel="nodes", ylabel=unit)
        axis.grid(visible=True, which="both", alpha=0.3)
        axis.legend()
    figure.savefig(file, dpi=120)


def main() -> None:
    """Measure clusters of all sizes that the command line names, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=SMALL, metavar="SIZE", help="numbers of nodes")
    parser.add_argument("--hours", type=float, default=1.0, help="how long each cluster idles, in virtual hours")
    parser.add_argument("--merge", choices=("auto", "yes", "no"), default="auto", help="have the kernel merge equal pages")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--chart", type=Path, metavar="FILE.png", help="draw them here")
    options = parser.parse_args()
    rows: list[Growth] = []
    with Interrupts() as interrupts, tempfile.TemporaryDirectory(prefix="simunix-growth-") as folder:
        context = Context(Path(folder), False, interrupts, lambda text: None)
        for nodes in options.sizes:
            try:
                rows.append(measure(context, nodes, options.hours, options.merge))
            except MeasurementError as error:
                sys.exit(f"{nodes} nodes: {error}")
            print(table(rows[-1:]).splitlines()[2], file=sys.stderr, flush=True)
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    if options.chart:
        draw(rows, options.chart)


if __name__ == "__main__":
    main()
