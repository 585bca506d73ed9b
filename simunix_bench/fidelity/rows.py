"""`simunix bench fidelity`: compare real daemons in real time with emulated ones under each CPU policy."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from simunix_bench.context import Context
from simunix_bench.fidelity.arms import ARMS, CHARGED, EMULATED, FREE, MODELLED, PACED, REAL
from simunix_bench.fidelity.comparison import judge, pairs_of
from simunix_bench.fidelity.figures import AIMS, FIGURES, deviation, of_arm, spread
from simunix_bench.fidelity.measure import measure
from simunix_bench.fidelity.records import Run
from simunix_bench.requirements import lacks
from simunix_bench.row import Row, at_most, missing

TIMES = {REAL: 3, FREE: 1, CHARGED: 3, PACED: 0, MODELLED: 2}
QUICK_TIMES = {REAL: 2, FREE: 0, CHARGED: 1, PACED: 0, MODELLED: 1}


def fidelity(context: Context) -> Iterator[Row]:
    """Run both scripts in all arms, and yield the rows; with --quick, only a small queue, which has no aims."""
    if why := lacks(["namespaces"]):
        yield missing("fidelity", "real daemons beside emulated ones", why)
        return
    times = QUICK_TIMES if context.is_quick else TIMES
    scripts = ("quick-queue",) if context.is_quick else ("mixed", "queue")
    runs = list(measure(context, [(arm, script) for arm in ARMS for script in scripts for _ in range(times[arm])]))
    if not context.is_quick:
        yield from mixed_rows(runs)
    yield from queue_rows(runs, has_aims=not context.is_quick)


def mixed_rows(runs: Sequence[Run]) -> Iterator[Row]:
    """Yield the largest differences of start times: between two real runs, and, for each emulated arm, between its
    worst run and the nearest real run.
    """
    real = [run for run in runs if run.arm == REAL and run.jobs]
    among = pairs_of(real)
    text = "60 mixed jobs:"
    yield Row("fidelity-real-median", f"{text} starts apart, two real runs: median", max(each.median_s for each in among), "s")
    yield Row("fidelity-real-most", f"{text} starts apart, two real runs: most", max(each.most_s for each in among), "s")
    for arm in EMULATED:
        found = [judge(run, real) for run in runs if run.arm == arm and run.jobs]
        if not found:
            continue
        median_s = max(each.to_nearest.median_s for each in found)
        yield Row(f"fidelity-{arm}-median", f"{text} starts apart, {arm} and real: median", median_s, "s")
        most_s = max(each.to_nearest.most_s for each in found)
        yield Row(f"fidelity-{arm}-most", f"{text} starts apart, {arm} and real: most", most_s, "s")
        beyond = max((each.beyond for each in found), key=len)
        note = f"beyond what two real runs differ: {', '.join(beyond)}" if beyond else ""
        aim = at_most(0) if arm != FREE else None
        yield Row(f"fidelity-{arm}-beyond", f"{text} {arm}: jobs beyond what two real runs differ", len(beyond), "", aim, note)


def queue_rows(runs: Sequence[Run], *, has_aims: bool) -> Iterator[Row]:
    """Yield the figures of a full queue: the real mean, and by how much each arm differs from it."""
    for figure in FIGURES:
        text = figure.text.replace("`", "")
        between = spread(runs, figure)
        note = "" if between is None else f"real runs differ by {between:.0f} %"
        real = statistics.fmean(of_arm(runs, REAL, figure))
        yield Row(f"fidelity-{figure.name}", f"full queue, real: {text}", real, figure.unit, note=note)
        for arm in EMULATED:
            off = deviation(runs, arm, figure)
            if off is not None:
                aim = at_most(AIMS[arm]) if has_aims and figure.is_judged and arm in AIMS else None
                yield Row(f"fidelity-{figure.name}-{arm}", f"full queue, {arm}: {text}, off by", abs(off), "%", aim)
