"""What an idle cluster of real Slurm takes as it grows: time until all nodes are idle, memory, time of an idle virtual hour.

    python benchmarks/growth.py [SIZE ...] [--hours H] [--json FILE] [--chart FILE.png] [--merge auto|yes|no]

One run for each number of nodes, one after the other. Memory is the proportional set size of all processes of the run, taken at
the end with virtual time held and, where equal pages are merged, once the merger has been round; `kernel` is by how much
unreclaimable slabs, page tables and kernel stacks of the whole computer have grown, so leave it alone meanwhile. Processor time
is that of the processes that live then. The last row has the exponent k of a fit to c · nodes^k.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # instead of this folder, whose platform.py would be taken for Python's
SIZES = (16, 64, 256)
FULL_SCANS = Path("/sys/kernel/mm/ksm/full_scans")
KERNEL_WORDS = ("SUnreclaim", "PageTables", "KernelStack")
SETTLING_S = 60.0
MIB = 1 << 20
SCENARIO = """
name: idle-{nodes}
network: {{bandwidth: 10Gbps, latency: 25us}}
stop: time
until: 1000 days
merge_pages: {merge}
hosts:
  - {{name: 'controller,login', cores: 4, memory: 8GiB}}
  - {{name: 'node[{first}-{nodes}]', cores: 16, sockets: 2, memory: 64GiB}}
slurm: {{controller: controller, login: login, nodes: 'node[{first}-{nodes}]'}}
processes:
  - name: watch
    host: login
    start: 4s
    command: [sh, -c, 'until [ "$(sinfo -h -o %D -t idle)" = {nodes} ]; do sleep 1; done; echo up; sleep {idle_s}; echo over >&2; sleep 1000d']
"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class Growth:
    """Of one size. Seconds; memory in MiB; numbers of processes and of the server's descriptors."""

    nodes: int
    start_s: float
    start_cpu_s: float
    memory: float
    server: float
    kernel: float
    processes: int
    descriptors: int
    hour_s: float
    hour_cpu_s: float


TITLES = ("nodes", "start, s", "CPU", "memory, MiB", "server", "kernel", "processes", "server's files", "idle hour, s", "CPU")
FITTED = {"start_s", "start_cpu_s", "memory", "server", "kernel", "processes", "descriptors", "hour_s", "hour_cpu_s"}


def family(root: int) -> list[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def of_processes(pids: Sequence[int], word: str, file: str) -> Iterator[float]:
    """A figure of each: of `smaps_rollup` in MiB, of `stat` the processor time in seconds."""
    for pid in pids:
        try:
            text = Path("/proc", str(pid), file).read_text()
        except OSError:
            continue
        if file == "stat":
            words = text.rpartition(")")[2].split()
            yield (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        else:
            yield next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith(word))


def kernel_mib() -> float:
    """What the kernel holds for processes and their like, of the whole computer."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(KERNEL_WORDS)) / 1024


def settle() -> None:
    """Let the merger go round twice, if there is one at work."""

    def scans() -> int:
        return int(FULL_SCANS.read_text()) if FULL_SCANS.exists() else 0

    is_on = FULL_SCANS.exists() and (FULL_SCANS.parent / "run").read_text().strip() == "1"
    begun, deadline = scans(), time.monotonic() + SETTLING_S
    while is_on and scans() < begun + 3 and time.monotonic() < deadline:
        time.sleep(0.5)


def await_text(file: Path, process: subprocess.Popen[str]) -> float:
    """When something was first written into a file, by this computer's clock."""
    while not (file.exists() and file.stat().st_size):
        if process.poll() is not None:
            raise SystemExit(f"the run ended early: {process.communicate()[1].strip()}")
        time.sleep(0.05)
    return file.stat().st_mtime


def measure(nodes: int, hours: float, merge: str, folder: Path) -> Growth:
    """One run."""
    scenario, out = folder / f"idle-{nodes}.yaml", folder / f"out-{nodes}"
    first = f"{1:0{len(str(nodes))}d}"
    scenario.write_text(SCENARIO.format(nodes=nodes, first=first, idle_s=round(hours * 3600), merge=merge))
    command = [sys.executable, "-m", "simunix.cli.main"]
    before = kernel_mib()
    began = time.time()
    process = subprocess.Popen(
        [*command, "run", str(scenario), "--out", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    up = await_text(out / "hosts/login/watch.out", process)
    start_cpu_s = sum(of_processes(family(process.pid), "", "stat"))
    over = await_text(out / "hosts/login/watch.err", process)
    subprocess.run([*command, "ctl", str(out), "pause"], check=True, stdout=subprocess.DEVNULL)
    cpu_s = sum(of_processes(family(process.pid), "", "stat"))
    settle()
    server, *emulated = family(process.pid)
    found = Growth(
        nodes,
        up - began,
        start_cpu_s,
        sum(of_processes(emulated, "Pss:", "smaps_rollup")),
        sum(of_processes([server], "Pss:", "smaps_rollup")),
        kernel_mib() - before,
        len(emulated),
        len(list(Path("/proc", str(server), "fd").iterdir())),
        (over - up) / hours,
        (cpu_s - start_cpu_s) / hours,
    )
    subprocess.run([*command, "ctl", str(out), "stop"], check=True, stdout=subprocess.DEVNULL)
    process.communicate()
    return found


def exponent(rows: Sequence[Growth], name: str) -> float:
    """The slope in logarithms: k of c · nodes^k, by least squares; not a number from fewer than two points."""
    points = [(math.log(row.nodes), math.log(value)) for row in rows if (value := getattr(row, name)) > 0]
    if len(points) < 2:
        return math.nan
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def table(rows: Sequence[Growth]) -> str:
    """In Markdown."""
    lines = ["| " + " | ".join(TITLES) + " |", "| " + " | ".join("---:" for _ in TITLES) + " |"]
    for row in rows:
        values = asdict(row).values()
        lines.append(
            "| " + " | ".join(f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" for value in values) + " |"
        )
    ends = [f"{exponent(rows, each.name):.2f}" if each.name in FITTED else "k" for each in fields(Growth)]
    return "\n".join([*lines, "| " + " | ".join(ends) + " |"])


def draw(rows: Sequence[Growth], file: Path) -> None:
    """All three questions over the number of nodes, with their exponents."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    panels = (
        ("until all nodes are idle", "seconds", ("start_s", "start_cpu_s")),
        ("memory", "MiB", ("memory", "kernel", "server")),
        ("an idle virtual hour", "seconds", ("hour_s", "hour_cpu_s")),
    )
    for axis, (title, unit, names) in zip(axes, panels, strict=True):
        for name in names:
            label = f"{name.removesuffix('_s').replace('_', ' ')}: nodes$^{{{exponent(rows, name):.2f}}}$"
            axis.loglog([row.nodes for row in rows], [getattr(row, name) for row in rows], "o-", label=label)
        axis.set(title=title, xlabel="nodes", ylabel=unit)
        axis.grid(visible=True, which="both", alpha=0.3)
        axis.legend()
    figure.savefig(file, dpi=120)


def main() -> None:
    """Measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES, metavar="SIZE", help="numbers of nodes")
    parser.add_argument("--hours", type=float, default=1.0, help="how long each cluster idles, in virtual hours")
    parser.add_argument("--merge", choices=("auto", "yes", "no"), default="auto", help="have the kernel merge equal pages")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--chart", type=Path, metavar="FILE.png", help="draw them here")
    options = parser.parse_args()
    rows: list[Growth] = []
    with tempfile.TemporaryDirectory(prefix="simunix-growth-") as folder:
        for nodes in options.sizes:
            rows.append(measure(nodes, options.hours, options.merge, Path(folder)))
            print(table(rows[-1:]).splitlines()[2], file=sys.stderr, flush=True)
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    if options.chart:
        draw(rows, options.chart)


if __name__ == "__main__":
    main()
