"""Measure what a cluster of real Slurm costs as it grows: the start until all nodes are idle, a job, memory, an idle
virtual hour.

Memory is the proportional set size of all processes of the run. It is taken at the end while virtual time is paused
and, if equal pages are merged, after the kernel has scanned all pages. `kernel` is the growth of unreclaimable slabs,
page tables and kernel stacks of the whole computer, which should do nothing else during the run. Processor time is that
of the processes alive at the end.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simunix.launch.interrupts import Interrupts
from simunix_bench.context import SIMUNIX, Context, MeasurementError
from simunix_bench.plugins import PLAIN, Plugins
from simunix_bench.row import Aim, Row, at_least, at_most

FULL_SCANS = Path("/sys/kernel/mm/ksm/full_scans")
KERNEL_WORDS = ("SUnreclaim", "PageTables", "KernelStack")
SETTLING_S = 600.0
JOBS = 100
LOOK_S = 0.05
HOUR_S = 3600
SMALL, LARGE, CURIE = (16, 64, 256), (16, 64, 256, 1024), (5040,)
SCENARIO = """
name: idle-{nodes}
network: {{bandwidth: 10Gbps, latency: 25us}}
stop: time
until: 1000 days
merge_pages: {merge}
hosts:
  - {{name: 'controller,login', cores: 4, memory: 8GiB}}
  - {{name: 'node[{first}-{nodes}]', cores: 16, sockets: 2, memory: 64GiB}}
slurm: {{controller: controller, login: login, nodes: 'node[{first}-{nodes}]'{parameters}}}
processes:
  - name: jobs
    host: login
    start: 4s
    command:
      - sh
      - -c
      - |
        until [ "$(sinfo -h -o %D -t idle)" = {nodes} ]; do sleep 1; done
        date +%s.%N
        for job in $(seq {jobs}); do sbatch -n 1 --mem=100M -o /dev/null --wrap 'sleep 60' > {marker}.last; done
        until [ -z "$(squeue -h)" ]; do sleep 1; done
        touch {marker}
  - name: watch
    host: login
    start: 4s
    command: [sh, -c, 'until [ -e {marker} ]; do sleep 1; done; date +%s.%N; sleep {idle_s}; echo over >&2; sleep 1000d']
"""
"""The scenario. Its jobs ask for an amount of memory, because with CR_Core_Memory other jobs would get all memory of their
nodes, and wait for each other.
"""
WITHOUT_MUNGE = "AuthType: auth/none, CredType: cred/none"
"""The parameters for clusters without munge, as in `scenarios/curie.yaml`: thousands of munged have more threads than
Linux has process numbers.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The cost of a cluster of one size, in seconds and MiB, with the numbers of processes and of the server's
    descriptors.

    `job_ms` is the wall time of a job `sleep 60` on one core, with its submission and wait, minus that of an equal idle
    time.
    """

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
    job_ms: float


def idle(context: Context) -> Iterator[Row]:
    """Measure how fast virtual time passes for sixteen idle nodes, and yield the row."""
    found = measure(context, 16, 2 if context.is_quick else 12, "auto", has_munge=True)
    yield Row("idle-16", "idle 16-node Slurm: virtual seconds per wall second", HOUR_S / found.hour_s, "", at_least(50_000))


def small(context: Context) -> Iterator[Row]:
    """Measure sizes up to 256 nodes, and yield their rows and the exponents of growth."""
    yield from _growth(context, (16, 64) if context.is_quick else SMALL)


def large(context: Context) -> Iterator[Row]:
    """Measure sizes up to 1,024 nodes, and yield their rows."""
    yield from _growth(context, LARGE)


def curie_idle(context: Context) -> Iterator[Row]:
    """Measure Curie's 5,040 nodes, which have separate aims, and yield the rows."""
    (nodes,) = CURIE
    found = measure(context, nodes, 0.25 if context.is_quick else 1, "auto")
    yield from rows_of(found, (at_most(300), at_most(8192), at_most(180)))


def _growth(context: Context, sizes: Sequence[int]) -> Iterator[Row]:
    found = []
    for nodes in sizes:
        found.append(measure(context, nodes, 0.25 if context.is_quick else 1, "auto"))
        yield from rows_of(found[-1])
    last = f"{sizes[0]:,} to {sizes[-1]:,} nodes: exponent of"
    for name, text in (("start_s", "start"), ("memory", "memory"), ("hour_s", "an idle hour"), ("job_ms", "a job")):
        power = exponent(found, name)
        value = None if math.isnan(power) else power
        yield Row(f"growth-{sizes[-1]}-{plain(name)}-exponent", f"{last} {text}", value)


def rows_of(found: Growth, aims: tuple[Aim | None, Aim | None, Aim | None] = (None, None, None)) -> Iterator[Row]:
    """Yield the rows of one size: start, memory, an idle hour, and a job."""
    name, text = f"growth-{found.nodes}", f"{found.nodes:,} nodes:"
    memory = found.memory + found.server + found.kernel
    note = f"processes {found.memory:,.0f}, server {found.server:,.0f}, kernel {found.kernel:,.0f} MiB"
    yield Row(f"{name}-start", f"{text} until all are idle", found.start_s, "s", aims[0])
    yield Row(f"{name}-memory", f"{text} memory in all", memory, "MiB", aims[1], note)
    yield Row(f"{name}-hour", f"{text} wall time of an idle virtual hour", found.hour_s, "s", aims[2])
    yield Row(f"{name}-job", f"{text} wall time of a job", found.job_ms, "ms", note=f"{JOBS} jobs `sleep 60` on a core each")


def measure(
    context: Context, nodes: int, hours: float, merge: str, has_munge: bool = False, plugins: Plugins = PLAIN
) -> Growth:
    """Run a cluster of one size, and return its cost. Raises MeasurementError, with its last line, if it ends early."""
    context.say(f"{nodes:,} idle nodes")
    out, idle_s = context.folder / f"idle-{nodes}", round(hours * HOUR_S)
    scenario = write_scenario(context.folder, nodes, idle_s, merge, has_munge, plugins)
    before, began = kernel_mib(), time.time()
    errors = context.folder / f"idle-{nodes}.err"
    with (
        errors.open("wb") as err,
        context.started([*SIMUNIX, "run", scenario, "--out", out], stdout=subprocess.DEVNULL, stderr=err) as process,
    ):
        of_login = out / "hosts/login"
        up = await_text(context, of_login / "jobs.out", process, errors)
        start_cpu_s = sum(of_processes(family(process.pid), "", "stat"))
        idle = await_text(context, of_login / "watch.out", process, errors)
        idle_cpu_s = sum(of_processes(family(process.pid), "", "stat"))
        over = await_text(context, of_login / "watch.err", process, errors)
        context.simunix("ctl", out, "pause")
        cpu_s = sum(of_processes(family(process.pid), "", "stat"))
        settle(context.interrupts)
        server, *emulated = family(process.pid)
        virtual_s = float((of_login / "watch.out").read_text()) - float((of_login / "jobs.out").read_text())
        found = Growth(
            nodes=nodes,
            start_s=up - began,
            start_cpu_s=start_cpu_s,
            memory=sum(of_processes(emulated, "Pss:", "smaps_rollup")),
            server=sum(of_processes([server], "Pss:", "smaps_rollup")),
            kernel=kernel_mib() - before,
            processes=len(emulated),
            descriptors=len(list(Path("/proc", str(server), "fd").iterdir())),
            hour_s=(over - idle) / hours,
            hour_cpu_s=(cpu_s - idle_cpu_s) / hours,
            job_ms=(idle - up - (over - idle) / idle_s * virtual_s) / JOBS * 1000,
        )
        context.simunix("ctl", out, "stop")
        context.await_end(process)
    return found


def write_scenario(folder: Path, nodes: int, idle_s: int, merge: str, has_munge: bool, plugins: Plugins = PLAIN) -> Path:
    """Write the scenario of a cluster of one size into a folder; return the scenario's file."""
    scenario = folder / f"idle-{nodes}.yaml"
    first = f"{1:0{len(str(nodes))}d}"
    parameters = plugins.section("" if has_munge else WITHOUT_MUNGE)
    marker = folder / f"jobs-ended-{nodes}"  # the marker is in a folder that all hosts share
    scenario.write_text(
        SCENARIO.format(nodes=nodes, first=first, idle_s=idle_s, merge=merge, parameters=parameters, jobs=JOBS, marker=marker)
    )
    return scenario


def await_text(context: Context, file: Path, process: subprocess.Popen[bytes], errors: Path) -> float:
    """Wait until a file has content; return the moment by this computer's clock, in seconds. Raises MeasurementError if
    the process ends first.
    """
    while not (file.exists() and file.stat().st_size):
        context.interrupts.check()
        if process.poll() is not None:
            lines = errors.read_text(errors="replace").strip().splitlines() or ["the run ended early"]
            raise MeasurementError(lines[-1].removeprefix("simunix: "))
        time.sleep(LOOK_S)
    return file.stat().st_mtime


def family(root: int) -> list[int]:
    """Return a process and all its descendants."""
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


def of_processes(pids: Sequence[int], field: str, file: str) -> Iterator[float]:
    """Yield a figure of each process: from `smaps_rollup` in MiB, from `stat` the processor time in seconds."""
    for pid in pids:
        try:
            text = Path("/proc", str(pid), file).read_text()
        except OSError:
            continue
        if file == "stat":
            fields = text.rpartition(")")[2].split()
            yield (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        else:
            yield next((int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith(field)), 0.0)


def kernel_mib() -> float:
    """Return the memory in MiB that the kernel holds for processes and files, of the whole computer."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(KERNEL_WORDS)) / 1024


def settle(interrupts: Interrupts) -> None:
    """If the kernel merges equal pages, wait until it has scanned all pages twice."""

    def scans() -> int:
        return int(FULL_SCANS.read_text()) if FULL_SCANS.exists() else 0

    is_on = FULL_SCANS.exists() and (FULL_SCANS.parent / "run").read_text().strip() == "1"
    begun, deadline = scans(), time.monotonic() + SETTLING_S
    while is_on and scans() < begun + 3 and time.monotonic() < deadline:
        interrupts.check()
        time.sleep(0.5)


def plain(name: str) -> str:
    """Return the name of a figure without its unit."""
    return name.removesuffix("_s").removesuffix("_ms")


def exponent(rows: Sequence[Growth], name: str) -> float:
    """Return the exponent k of the curve c · nodes^k, fitted to the logarithms by least squares; NaN for fewer than two
    points.
    """
    points = [(math.log(row.nodes), math.log(value)) for row in rows if (value := getattr(row, name)) > 0]
    if len(points) < 2:
        return math.nan
    return statistics.linear_regression(*zip(*points, strict=True)).slope
