"""The benchmarks by name: what each needs, whether it runs by default, and the function that measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rsg_server.errors import SimunixError
from simunix_bench import demo, growth, hundred_jobs, long_runs, thirty_jobs
from simunix_bench.context import Context
from simunix_bench.costs import cgroups, mailboxes, spawn, traps, turns
from simunix_bench.fidelity.rows import fidelity
from simunix_bench.parallel import parallelism
from simunix_bench.row import Row
from simunix_bench.wall_time import busy_loops, databases, five_hundred_jobs


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark. `needs` are keys of requirements.NEEDS, and `takes` is a rough duration as text. Benchmarks that
    take long run only when named.
    """

    name: str
    title: str
    takes: str
    needs: tuple[str, ...]
    measure: Callable[[Context], Iterator[Row]]
    is_long: bool = False


BENCHMARKS = (
    Benchmark("turn", "what a turn and a system call cost", "1 min", ("gcc",), turns.turns),
    Benchmark("spawn", "what the birth and death of a process cost", "1 min", ("gcc",), spawn.spawns),
    Benchmark("rsg", "messages and sleeps of actors of Remote SimGrid", "3 min", ("gcc",), mailboxes.mailboxes, True),
    Benchmark("idle", "an idle Slurm of 16 nodes", "1 min", ("slurm",), growth.idle),
    Benchmark("demo", "a day of the NASA iPSC on 16 nodes", "3 min", ("slurm",), demo.demo),
    Benchmark("hundred-jobs", "100 jobs: real time, faketime, simunix", "3 min", ("slurm",), hundred_jobs.hundred_jobs),
    Benchmark("growth", "clusters of 16 to 256 nodes", "2 min", ("slurm",), growth.small),
    Benchmark(
        "thirty-jobs", "30 jobs on 16 nodes in real time and emulated", "4 min", ("slurm",), thirty_jobs.thirty_jobs, True
    ),
    Benchmark("fidelity", "the same work for real and for emulated daemons", "40 min", ("slurm",), fidelity, True),
    Benchmark("busy-loops", "loops that never wait, 20 virtual seconds each", "3 min", (), busy_loops.busy_loops, True),
    Benchmark("databases", "MariaDB's tables, made natively and inside", "1 min", ("mariadb",), databases.databases, True),
    Benchmark(
        "five-hundred-jobs",
        "500 jobs in 14 hours on 10 nodes, with accounting",
        "2 min",
        ("slurm", "slurmdbd"),
        five_hundred_jobs.five_hundred_jobs,
        True,
    ),
    Benchmark(
        "parallelism",
        "how much work lay on the critical path",
        "20 min",
        ("slurm",),
        parallelism.parallelism,
        True,
    ),
    Benchmark("traps", "which instructions trap, which messages are sent", "1 min", ("slurm",), traps.traps, True),
    Benchmark("cgroups", "a slurmd and a job, with cgroups and without", "8 min", ("slurm",), cgroups.cgroups, True),
    Benchmark("cgroups-1024", "1,024 nodes, with cgroups and without", "15 min", ("slurm",), cgroups.large, True),
    Benchmark("growth-1024", "clusters of 16 to 1,024 nodes", "6 min", ("slurm",), growth.large, True),
    Benchmark("nasa", "92 days of the NASA iPSC on 128 slurmds", "35 min", ("slurm",), long_runs.nasa, True),
    Benchmark("curie-idle", "5,040 nodes", "25 min", ("slurm",), growth.curie_idle, True),
    Benchmark("curie", "an hour of Curie on 5,040 slurmds, twice", "40 min", ("slurm",), long_runs.curie, True),
)
BY_NAME = {benchmark.name: benchmark for benchmark in BENCHMARKS}


def chosen(names: Sequence[str], every: bool) -> list[Benchmark]:
    """Return the named benchmarks in the catalogue's order, each once; without names, the short ones or, with `every`,
    all.

    Raises SimunixError for an unknown name, and for names together with `every`.
    """
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        raise SimunixError(f"bench: there is no benchmark {', '.join(unknown)}; there are: {', '.join(BY_NAME)}")
    if names and every:
        raise SimunixError("bench: give names or --all, not both")
    return [one for one in BENCHMARKS if (one.name in names if names else every or not one.is_long)]
