"""Compute statistics of a trace: counts, time span, sizes, times, load, users."""

from __future__ import annotations

import pandas as pd

from simunix.workload.formats.swf import SwfTrace
from simunix.workload.transforms.sample import size_of

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)


def statistics(trace: SwfTrace) -> dict[str, object]:
    """Return the statistics by name, for a table or JSON, in seconds and processors; quantiles are a dictionary by
    percentage.

    Values that the trace does not determine are left out. `offered_load` is work / (processors × span of submissions).
    """
    jobs = trace.jobs
    sizes = size_of(jobs)
    found: dict[str, object] = {"jobs": len(jobs)}
    if jobs.empty:
        return found
    submit = jobs["submit_s"][jobs["submit_s"] >= 0]
    span = float(submit.max() - submit.min())
    processors = trace.number("MaxProcs") or trace.number("MaxNodes") or float(sizes.max())
    is_known = (sizes > 0) & (jobs["runtime_s"] >= 0)
    work = (sizes * jobs["runtime_s"])[is_known].sum()
    found |= {"span_s": span, "processors": int(processors), "users": int(jobs["user"][jobs["user"] >= 0].nunique())}
    if not is_known.all():
        found["jobs_of_unknown_work"] = int((~is_known).sum())
    if is_known.any():
        found["work_processor_s"] = float(work)
    if span > 0 and is_known.any():
        found["offered_load"] = float(work / (processors * span))
    columns = {"size": sizes, "runtime_s": jobs["runtime_s"], "requested_s": jobs["requested_s"], "wait_s": jobs["wait_s"]}
    for name, column in columns.items():
        _quantiles(found, name, column[column >= 0])
    _quantiles(found, "interarrival_s", submit.sort_values().diff().dropna())
    known = jobs[(jobs["requested_s"] > 0) & (jobs["runtime_s"] >= 0)]
    if len(known):
        found["median_runtime_of_requested"] = float((known["runtime_s"] / known["requested_s"]).median())
    found["status"] = {str(key): int(value) for key, value in jobs["status"].value_counts().sort_index().items()}
    return found


def _quantiles(found: dict[str, object], name: str, values: pd.Series) -> None:
    if len(values):
        points = values.quantile(list(QUANTILES))
        found[name] = {f"{int(100 * share)} %": float(value) for share, value in points.items()}  # type: ignore[operator]
