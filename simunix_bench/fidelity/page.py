"""Print the tables of docs/studies/fidelity.md from a file of results.

python -m simunix_bench.fidelity.page FILE
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from simunix_bench.fidelity.arms import ARMS, EMULATED, REAL
from simunix_bench.fidelity.comparison import Difference, difference, judge, pairs_of
from simunix_bench.fidelity.figures import FIGURES, deviation, of_arm, spread
from simunix_bench.fidelity.measure import read_results
from simunix_bench.fidelity.records import JobRecord, Run
from simunix_bench.row import number


def of_script(runs: Sequence[Run], arm: str) -> list[Run]:
    """Return the runs of the script with mixed jobs in an arm."""
    return [run for run in runs if run.arm == arm and run.jobs]


def names(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """Return the runs of the script with mixed jobs, each with a name made of its arm and a number."""
    return [(f"{arm} {count}", run) for arm in ARMS for count, run in enumerate(of_script(runs, arm), 1)]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table; all columns except for the first are aligned to the right."""
    yield f"| {' | '.join(head)} |"
    yield f"| --- |{' ---: |' * (len(head) - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def apart(name: str, found: Difference) -> list[str]:
    """Return a Markdown table's row with the differences between two runs of a script."""
    return [
        name,
        f"{found.median_s * 1000:,.0f}",
        f"{found.most_s:.1f}",
        str(len(found.moved)),
        f"{100 * found.inverted:.1f}",
        str(len(found.states)),
        str(len(found.restarts)),
        str(len(found.nodes)),
    ]


def summary(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a table of how far runs of the mixed jobs are apart: every two real runs, then each emulated run and the
    nearest real run.
    """
    head = [
        "runs",
        "starts apart: median, ms",
        "most, s",
        "more than 1 s",
        "pairs inverted, %",
        "states",
        "restarts",
        "nodes",
    ]
    named = dict(names(runs))
    real = [name for name in named if name.startswith(REAL)]
    rows = [
        apart(f"{one}, {two}", difference(named[one], named[two]))
        for place, one in enumerate(real)
        for two in real[place + 1 :]
    ]
    for name, run in named.items():
        if run.arm != REAL and len(real) > 1:
            found = judge(run, [named[each] for each in real])
            rows.append(apart(f"{name}, {real[found.nearest]}", found.to_nearest))
    yield from table(head, rows)


def verdicts(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a line for each emulated run: whether it is as near to a real run as two real runs are to each other, and
    which jobs are not.
    """
    real = of_script(runs, REAL)
    if len(real) < 2:
        return
    for name, run in names(runs):
        if run.arm != REAL:
            found = judge(run, real)
            word = "within" if found.is_within(pairs_of(real)) else "not within"
            yield f"* {name}: {word}" + (f"; beyond: {', '.join(found.beyond)}" if found.beyond else "")


def moments(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a table of all jobs: the start in each run, the end state and the nodes in the first run; an asterisk marks
    a difference in another run.
    """
    named = names(runs)
    if not named:
        return
    records = {name: {job.key: job for job in run.jobs} for name, run in named}
    rows = []
    for first in sorted(named[0][1].jobs, key=lambda job: (job.submit_s, job.key)):
        own = [records[name].get(first.key) for name, _ in named]
        rows.append([first.key, *_outcome(own), *(_start(job) for job in own)])
    yield from table(["job", "state", "nodes", *(name for name, _ in named)], rows)


def _outcome(jobs: Sequence[JobRecord | None]) -> list[str]:
    states, nodes = ({getattr(job, field) for job in jobs if job is not None} for field in ("state", "nodes"))
    first = next(job for job in jobs if job is not None)
    return [first.state.lower() + "*" * (len(states) > 1), first.nodes + "*" * (len(nodes) > 1)]


def _start(job: JobRecord | None) -> str:
    return "" if job is None or job.started_s is None else f"{job.started_s:.2f}"


def queue(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a table of the figures of a full queue in all runs, and how far each arm's mean is from the real mean."""
    arms = [arm for arm in EMULATED if of_arm(runs, arm, FIGURES[0])]
    head = ["", "real", "± between real runs, %", *(word for arm in arms for word in (arm, "%"))]
    rows = []
    for figure in FIGURES:
        cells = [f"{figure.text}, {figure.unit}", _values(of_arm(runs, REAL, figure)), _signed(spread(runs, figure))]
        for arm in arms:
            cells += [_values(of_arm(runs, arm, figure)), _signed(deviation(runs, arm, figure))]
        rows.append(cells)
    yield from table(head, rows)


def _values(values: Sequence[float]) -> str:
    return "; ".join(number(value) for value in values)


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.0f}"


def loads(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a table of the load averages and the wall time of each run."""
    rows = [[f"{run.arm}, {run.script}", f"{run.load[0]}", f"{run.load[1]}", f"{run.wall_s:.0f}"] for run in runs]
    yield from table(["run", "load before", "after", "wall, s"], rows)


def main(file: Path) -> None:
    """Print all tables from a file of results."""
    _, runs = read_results(file)
    for part in (summary, verdicts, queue, moments, loads):
        print("\n".join(part(runs)), end="\n\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
