"""Run scenarios with measured turns, and read their files turns.csv and messages.csv (rsg_server.diagnosis.turn_costs)."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rsg_server.diagnosis.turn_costs import MESSAGES_FILE, TURNS_FILE
from simunix.workload.job import Job
from simunix_bench import emulated_cluster
from simunix_bench.context import CHECKOUT, Context
from simunix_bench.parallel.critical_path import Message, Turn

NODES, QUICK_NODES = 256, 32
IDLE_S = 600
"""The length of the measured idle time, in virtual seconds; slurmctld pings all nodes several times in it."""
BURST, QUICK_BURST = (1000, 64, 16), (50, 8, 16)
"""The number of jobs that are submitted at once, the number of nodes, and the cores of a node. All jobs can run at one
time.
"""
NS = 10**9
CLUSTER = """
name: cluster
network: {{bandwidth: 10Gbps, latency: 25us}}
stop: [up]
hosts:
  - {{name: 'controller,login', cores: 4, memory: 8GiB}}
  - {{name: 'node[{first}-{nodes}]', cores: 16, sockets: 2, memory: 64GiB}}
slurm:
  controller: controller
  login: login
  nodes: 'node[{first}-{nodes}]'
  parameters: {{AuthType: auth/none, CredType: cred/none}}
processes:
  - name: up
    host: login
    start: 4s
    command: |
      until [ "$(sinfo -h -o %D -t idle)" = {nodes} ]; do sleep 1; done
      cut -d' ' -f1 /proc/uptime
      sleep {idle_s}
"""
UPTIME_S = 60.0
"""The value of /proc/uptime at the start of a run."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A part of a run: its turns with the CPU time of their processes, its turns with the server's CPU time added, and
    its messages.

    `server_ns` is the server's CPU time in this part, if turns are not measured.
    """

    name: str
    text: str
    turns: Sequence[Turn]
    with_server: Sequence[Turn]
    messages: Sequence[Message]

    @property
    def server_ns(self) -> int:
        """The server's CPU time in this part of the run, in nanoseconds."""
        return sum(turn.cost_ns for turn in self.with_server) - sum(turn.cost_ns for turn in self.turns)

    def between(self, name: str, text: str, begin_ns: int, end_ns: int) -> Measured:
        """Return the part of the run between two moments of virtual time."""

        def part(turns: Sequence[Turn]) -> list[Turn]:
            return [turn for turn in turns if begin_ns <= turn.time_ns < end_ns]

        return replace(self, name=name, text=text, turns=part(self.turns), with_server=part(self.with_server))


def demo(context: Context) -> Iterator[Measured]:
    """Run the demo (with --quick, its first six hours), and yield its turns."""
    until = ("--until", "6h") if context.is_quick else ()
    yield measure(context, CHECKOUT / "scenarios" / "nasa-ipsc.yaml", "demo", "the demo", until)


def cluster(context: Context) -> Iterator[Measured]:
    """Run a smaller machine of Curie's shape, and yield two parts: the start until all nodes are idle, and ten idle
    minutes with pings.
    """
    nodes = QUICK_NODES if context.is_quick else NODES
    scenario = context.folder / "cluster.yaml"
    scenario.write_text(CLUSTER.format(nodes=nodes, first=f"{1:0{len(str(nodes))}d}", idle_s=IDLE_S))
    whole = measure(context, scenario, "cluster", "", ())
    said = next(context.folder.glob("cluster-measured/hosts/login/up.out")).read_text()
    up_ns = round((float(said) - UPTIME_S) * NS)
    yield whole.between("start", f"{nodes} nodes, until all are idle", 0, up_ns)
    yield whole.between("pings", f"{nodes} nodes, {IDLE_S // 60} idle minutes with slurmctld's pings", up_ns, 1 << 63)


def burst(context: Context) -> Iterator[Measured]:
    """Run jobs `sleep 60` on one core each, all submitted at one moment, and yield the turns."""
    count, nodes, cores = QUICK_BURST if context.is_quick else BURST
    jobs = [Job(number, 0, 60, 600, cores=1) for number in range(1, count + 1)]
    scenario = emulated_cluster.write_scenario(context.folder, jobs, nodes, cores)
    yield measure(context, scenario, "burst", f"a burst of {count:,} jobs on {nodes} nodes", ())


RUNS: tuple[Callable[[Context], Iterator[Measured]], ...] = (demo, cluster, burst)


def measure(context: Context, scenario: Path, name: str, text: str, arguments: Sequence[str]) -> Measured:
    """Run a scenario twice, the second time with --turn-costs, and return the turns.

    Measuring turns makes work for the server. So the server's part of each turn is scaled to what it needed in the
    first run.
    """
    context.say(f"{name}, as it is")
    record, _ = context.scenario(scenario, *arguments)
    context.say(f"{name}, turn by turn")
    out = context.folder / f"{name}-measured"
    context.simunix("run", scenario, "--out", out, "--turn-costs", *arguments)
    return read(out, name, text, record["server_cpu_s"])


def read(folder: Path, name: str, text: str, server_s: float | None = None) -> Measured:
    """Read the turns of a run directory. The server's work is scaled to `server_s` seconds in total, if that is given."""
    with (folder / TURNS_FILE).open(newline="") as file:
        rows = [(int(row[0]), row[1], int(row[4]), int(row[5])) for row in _data(file)]
    with (folder / MESSAGES_FILE).open(newline="") as file:
        messages = [Message(int(row[0]), int(row[0]) + int(row[1]), row[2], row[3]) for row in _data(file)]
    spent_ns = sum(server_ns for *_, server_ns in rows)
    scale = 1.0 if server_s is None or spent_ns == 0 else server_s * NS / spent_ns
    turns = [Turn(time_ns, host, cpu_ns) for time_ns, host, cpu_ns, _ in rows]
    with_server = [Turn(time_ns, host, cpu_ns + round(scale * server_ns)) for time_ns, host, cpu_ns, server_ns in rows]
    return Measured(name, text, turns, with_server, messages)


def _data(lines: Iterator[str]) -> Iterator[list[str]]:
    """Yield the rows of a CSV file without the line of column names."""
    rows = csv.reader(lines)
    next(rows)
    return rows
