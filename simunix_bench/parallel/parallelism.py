"""`simunix bench parallelism`: compute how much of the work of runs lies on the critical path, with conservative
lookahead.

The server's work is counted in two ways: as one part that cannot be divided (*serial*), and as if each host had a
server of its own (*divided*). docs/internals/parallel.md says what it would take to run in this way, and whether that
is worthwhile.
"""

from __future__ import annotations

from collections.abc import Iterator

from simunix_bench.context import Context
from simunix_bench.parallel.critical_path import causal, conservative, most_of_a_host, total, windowed
from simunix_bench.parallel.runs import NS, RUNS, Measured
from simunix_bench.row import Row

LOOKAHEADS = {"25us": (25_000, "25 µs"), "1ms": (1_000_000, "1 ms")}
CORES = (2, 8)


def parallelism(context: Context) -> Iterator[Row]:
    """Measure the turns of each run, and yield rows with the bounds."""
    for run in RUNS:
        for measured in run(context):
            yield from rows_of(measured)


def rows_of(measured: Measured) -> Iterator[Row]:
    """Yield the rows of a part of a run: its work, and the bounds without and with each lookahead."""
    name, text = f"parallel-{measured.name}", measured.text
    work_ns, server_ns = total(measured.turns), measured.server_ns
    hosts = len({turn.host for turn in measured.turns})
    note = f"{len(measured.turns):,} turns on {hosts} hosts, {len(measured.messages):,} messages between hosts in the run"
    yield Row(f"{name}-work", f"{text}: CPU time of processes", work_ns / NS, "s", note=note)
    yield Row(f"{name}-server", f"{text}: the server's CPU time", server_ns / NS, "s")
    if work_ns == 0:
        return
    least = {
        "busiest": ("the busiest host's part of the processes' work", most_of_a_host(measured.turns)),
        "causal": ("of it on the path of real messages", causal(measured.turns, measured.messages)),
    }
    for key, (meaning, path_ns) in least.items():
        yield Row(f"{name}-{key}", f"{text}: {meaning}", 100 * path_ns / work_ns, "%")
    for key, (lookahead_ns, shown) in LOOKAHEADS.items():
        yield from _with_lookahead(measured, f"{name}-{key}", f"{text}, L = {shown}", lookahead_ns)


def _with_lookahead(measured: Measured, name: str, text: str, lookahead_ns: int) -> Iterator[Row]:
    """Yield the rows for one lookahead: the parts of the work on the critical path, and the greatest possible
    speed-ups.
    """
    turns, work_ns, server_ns = measured.turns, total(measured.turns), measured.server_ns
    whole_ns = work_ns + server_ns
    alone, joint = windowed(turns, lookahead_ns, CORES), windowed(measured.with_server, lookahead_ns, CORES)
    asynchronous_ns = conservative(turns, lookahead_ns)
    yield Row(f"{name}-async", f"{text}: critical path, no barriers", 100 * asynchronous_ns / work_ns, "%")
    note = f"{alone.count:,} windows, {alone.hosts:.2f} hosts in one on average"
    yield Row(f"{name}-windows", f"{text}: critical path, windows", 100 * alone.critical_ns / work_ns, "%", note=note)
    worth_us = (work_ns - alone.critical_ns) / alone.count / 1000
    yield Row(f"{name}-barrier", f"{text}: what a window gains, and may cost", worth_us, "µs")
    for cores in CORES:
        serial = whole_ns / (server_ns + alone.on_cores_ns[cores])
        yield Row(f"{name}-serial-{cores}", f"{text}: speed-up on {cores} cores at most, server serial", serial, "×")
        divided = whole_ns / joint.on_cores_ns[cores]
        yield Row(f"{name}-divided-{cores}", f"{text}: speed-up on {cores} cores at most, server divided", divided, "×")
    yield Row(f"{name}-serial", f"{text}: speed-up at most, server serial", whole_ns / (server_ns + alone.critical_ns), "×")
    yield Row(f"{name}-divided", f"{text}: speed-up at most, server divided", whole_ns / joint.critical_ns, "×")
