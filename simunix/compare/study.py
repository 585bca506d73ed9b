"""The data of a comparison: what changed from the base to each variant, and how closely the base reproduces the site's
own machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from simunix.compare.repeated import Repetitions
from simunix.metrics.changes import GROUPS, by_group, error_summary, errors_by, pairs, shares, tally, verdict
from simunix.report.run_data import Run
from simunix.statistics.difference import DIFFERS, TOO_FEW, Difference

if TYPE_CHECKING:
    from simunix.compare.conclusion import Conclusion

WITHIN_NOISE = "within noise"
SUBMITTED_APART_S = 60.0
"""The distance (s) from the site's moment of submission from which on a job is counted as submitted at another moment;
the start of such a job says little.
"""


@dataclass(frozen=True)
class Change:
    """The change from the run `base` to another run; `pairs` is the pair table (`simunix.metrics.changes`) of the jobs
    of both. With several `repetitions`, the two runs are the first ones, and groups have means over all repetitions.
    """

    base: Run
    run: Run
    pairs: pd.DataFrame
    repetitions: Repetitions

    @property
    def is_repeated(self) -> bool:
        """Whether there are repetitions that differ."""
        return len(self.repetitions.seeds) > 1

    @cached_property
    def tally(self) -> dict[str, int]:
        """The number of jobs with each fate (started earlier, later, …)."""
        return tally(self.pairs)

    @cached_property
    def groups(self) -> dict[str, pd.DataFrame]:
        """The tables `by_group` of users, accounts, partitions and QOS (of each kind of which there are several), with
        the columns `verdict` and `share_*`.

        With repetitions, `wait_base`, `wait_other` and `wait_change` are means over these, `low` and `high` are the
        ends of the interval of the change, and the verdict on a change that may be chance is WITHIN_NOISE. Without
        repetitions, `low` and `high` are NaN, and the verdict is empty.
        """
        found = {}
        for name in GROUPS:
            table = by_group(self.pairs, name)
            if len(table) > 1:
                sides = {f"share_{side}": _shares(run, name) for side, run in (("base", self.base), ("other", self.run))}
                table = table.assign(**{key: table["name"].map(one) for key, one in sides.items()}, low=np.nan, high=np.nan)
                found[name] = self._repeated(name, table.assign(verdict=table["wait_change"].map(verdict)))
        return found

    def _repeated(self, kind: str, table: pd.DataFrame) -> pd.DataFrame:
        if not self.is_repeated:
            return table
        told = [self.repetitions.groups[kind].get(name) for name in table["name"]]
        ends = [one.interval if one is not None else None for one in told]
        changes = [np.nan if one is None else one.mean for one in ends]
        base = [np.nan if one is None else one.base for one in told]
        found = table.assign(
            wait_base=base,
            wait_other=np.add(base, changes),
            wait_change=changes,
            low=[np.nan if one is None else one.low for one in ends],
            high=[np.nan if one is None else one.high for one in ends],
            verdict=[_verdict(one) for one in told],
        )
        return found.sort_values(["wait_change", "name"], kind="stable", ignore_index=True)

    @cached_property
    def waits(self) -> tuple[float, float]:
        """The mean waits in both runs, over the jobs that start in both."""
        both = self.pairs[self.pairs["change"].notna()]
        return float(both["wait_base"].mean()), float(both["wait_other"].mean())


def _verdict(difference: Difference | None) -> str:
    if difference is None or difference.verdict == TOO_FEW:
        return ""
    return verdict(difference.interval.mean) if difference.verdict == DIFFERS else WITHIN_NOISE


def _shares(run: Run, name: str) -> dict[str, float]:
    if run.counted is None:
        return {}
    return {str(key): float(one) for key, one in shares(run.counted, name, run.processors).items()}


@dataclass(frozen=True)
class Validation:
    """The errors of each run of a comparison against the site's own accounting, which was read from the file `source`.

    `tables` has, by the label of a run, the table that `simunix.metrics.changes.errors` returns; the base comes first.
    """

    source: str
    tables: Mapping[str, pd.DataFrame]

    @property
    def base(self) -> pd.DataFrame:
        """The table of errors of the base."""
        return next(iter(self.tables.values()))

    @cached_property
    def summaries(self) -> dict[str, dict[str, float]]:
        """The `error_summary` of each run."""
        return {label: error_summary(table["error"]) for label, table in self.tables.items()}

    @cached_property
    def groups(self) -> dict[str, pd.DataFrame]:
        """The tables `errors_by` of the base's users, accounts, partitions and QOS (of each kind of which there are
        several).
        """
        found = {name: errors_by(self.base, name) for name in GROUPS}
        return {name: table for name, table in found.items() if len(table) > 1}

    @cached_property
    def notes(self) -> list[str]:
        """Sentences on what limits the meaning of the base's errors: jobs that are not in both tables, or that were
        submitted at other moments.
        """
        found = []
        counts = tally(self.base)
        apart = (self.base["submit_other"] - self.base["submit_base"]).abs() > SUBMITTED_APART_S
        if counts["gone"]:
            found.append(f"{counts['gone']:,} of the site's jobs are not in the run")
        if counts["new"]:
            found.append(f"{counts['new']:,} of the run's jobs are not in {self.source}")
        if counts["not started"]:
            found.append(f"{counts['not started']:,} jobs started on the site and not in the run")
        if counts["started"]:
            found.append(f"{counts['started']:,} jobs started in the run and not on the site")
        if apart.any():
            found.append(
                f"{int(apart.sum()):,} jobs were submitted more than {SUBMITTED_APART_S / 60:g} min before or after the site's "
                "own moment"
            )
        return found


@dataclass(frozen=True)
class Study:
    """All data of a comparison.

    `runs` are the base and the variants, `conclusions` the conclusions of the changes, in the order of the changes.
    """

    runs: Sequence[Run]
    changes: Sequence[Change]
    validation: Validation | None = None
    conclusions: Sequence[Conclusion] = ()


def changes_of(runs: Sequence[Run], repeated: Mapping[str, Mapping[int, Run]] | None = None) -> list[Change]:
    """Return the change from the first run to each other run that has jobs, over the jobs that count. `repeated` has
    the runs of each label by their seeds; without `repeated`, each label has one run. Raises SimunixError for a run
    that has no job in common with the base.
    """
    base = runs[0]
    if base.counted is None:
        return []
    own = {run.label: {0: run} for run in runs} if repeated is None else repeated
    found = []
    for run in runs[1:]:
        if run.counted is not None:
            table = pairs(base.counted, run.counted)
            _check_common(base, run, table)
            found.append(Change(base, run, table, Repetitions(own[base.label], own[run.label])))
    return found


def _check_common(base: Run, run: Run, table: pd.DataFrame) -> None:
    if len(table) and table["fate"].isin(("gone", "new")).all():
        ours, theirs = (table.loc[table["fate"] == fate, "job_id"].iloc[0] for fate in ("gone", "new"))
        raise SimunixError(
            f"{run.label}: none of its jobs ({theirs}, …) is one of {base.label}'s ({ours}, …); compare runs of one trace"
        )


def with_common_names(runs: Sequence[Run]) -> list[Run]:
    """Return the runs.

    If each run has one workload, all workloads get the name of the base's, so that jobs are matched by number alone.
    """
    names = [set() if run.jobs is None else set(run.jobs["workload_name"]) for run in runs]
    if not names or not names[0] or any(len(own) > 1 for own in names):
        return list(runs)
    (name,) = names[0]
    return [run if run.jobs is None else _renamed(run, run.jobs, name) for run in runs]


def _renamed(run: Run, jobs: pd.DataFrame, name: str) -> Run:
    contexts = [{**context, "workload": name} for context in run.record.get("contexts") or []]
    record = {**run.record, "contexts": contexts} if contexts else run.record
    return replace(run, jobs=jobs.assign(workload_name=name), record=record)
