"""Count which instructions trap into the shim, and which messages the server receives, while a small Slurm cluster runs
jobs.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from simunix.launch.debug.call_counts import MESSAGES_FILE, TRAPS_FILE
from simunix_bench.context import Context
from simunix_bench.row import Row

NODES, JOBS, QUICK_JOBS = 16, 100, 10
HOTTEST = 10
LEAST_PART = 0.01
"""The table leaves out programs with a smaller part of all traps than this."""
T = TypeVar("T")
SCENARIO = """
name: traps
network: {{bandwidth: 10Gbps, latency: 25us}}
stop: jobs
merge_pages: false
hosts:
  - {{name: 'controller,login', cores: 4, memory: 8GiB}}
  - {{name: 'node[1-{nodes}]', cores: 16, sockets: 2, memory: 64GiB}}
slurm: {{controller: controller, login: login, nodes: 'node[1-{nodes}]'}}
processes:
  - name: jobs
    host: login
    start: 4s
    command:
      - sh
      - -c
      - |
        until [ "$(sinfo -h -o %D -t idle)" = {nodes} ]; do sleep 1; done
        for job in $(seq {jobs}); do sbatch -n 1 -o /dev/null --wrap 'sleep 60' > /dev/null; done
        until [ -z "$(squeue -h)" ]; do sleep 1; done
"""


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction that trapped into the shim, as a benchmark's table names it: the function and the file, and the
    system call that the instruction makes.
    """

    symbol: str
    file: str
    call: str

    def __str__(self) -> str:
        return f"{self.call} at {self.symbol or '?'} ({Path(self.file).name or 'memory of no file'})"


def traps(context: Context) -> Iterator[Row]:
    """Run sixteen nodes with a hundred jobs (with --quick, ten), and yield the rows of the counts."""
    scenario = context.folder / "traps.yaml"
    scenario.write_text(SCENARIO.format(nodes=NODES, jobs=QUICK_JOBS if context.is_quick else JOBS))
    record, out = context.scenario(scenario, "--count-calls")
    yield Row("traps", "trapped system calls", record["counts"]["traps"])
    yield Row("preloaded", "system calls through the preload net", record["counts"]["preloaded_calls"])
    yield from rows_of_places(read_places(out / TRAPS_FILE))
    yield from rows_of_messages(read_messages(out / MESSAGES_FILE))


def read_places(file: Path) -> dict[str, Counter[Place]]:
    """Return the counts in traps.csv by program and instruction."""
    found: dict[str, Counter[Place]] = defaultdict(Counter)
    for row in _rows(file):
        found[row["program"]][Place(row["symbol"], row["file"], row["call"])] += int(row["count"])
    return found


def read_messages(file: Path) -> Counter[str]:
    """Return the counts in server_messages.csv by kind of message, wait and system call, over all programs."""
    found: Counter[str] = Counter()
    for row in _rows(file):
        found[" ".join(filter(None, (row["message"], row["wait"], row["call"])))] += int(row["count"])
    return found


def _rows(file: Path) -> Iterator[dict[str, str]]:
    with file.open(newline="") as stream:
        yield from csv.DictReader(stream)


def rows_of_places(places: Mapping[str, Counter[Place]]) -> Iterator[Row]:
    """Yield a row for each program, the one with the most traps first, followed by rows of its ten most frequent
    instructions.
    """
    sums = {program: counts.total() for program, counts in places.items()}
    least = LEAST_PART * sum(sums.values())
    for program, total in _falling(sums.items()):
        if total >= least:
            yield Row(f"traps-{program}", f"{program}: traps", total)
            for rank, (place, count) in enumerate(_falling(places[program].items())[:HOTTEST], 1):
                yield Row(f"traps-{program}-{rank}", f"  {place}", count)


def rows_of_messages(messages: Counter[str]) -> Iterator[Row]:
    """Yield a row for all messages to the server, and rows for the ten most frequent kinds."""
    yield Row("messages", "messages to the server", messages.total())
    for rank, (kind, count) in enumerate(_falling(messages.items())[:HOTTEST], 1):
        yield Row(f"messages-{rank}", f"  {kind}", count)


def _falling(counts: Iterable[tuple[T, int]]) -> list[tuple[T, int]]:
    return sorted(counts, key=lambda pair: (-pair[1], str(pair[0])))
