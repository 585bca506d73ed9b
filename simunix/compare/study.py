"""What a comparison says: what changed from the base to each variant, and how far the base is like the site's own machine."""

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
"""Jobs that were submitted so much away from the site's own moment are counted, since their starts can say little."""


@dataclass(frozen=True)
class Change:
    """What changed from the run `base` to another one; `pairs` is the pair table (`simunix.metrics.changes`) of their jobs.

    With several `repetitions`, these two are the first ones, and groups have means over all of them.
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
        """How many jobs met each fate."""
        return tally(self.pairs)

    @cached_property
    def groups(self) -> dict[str, pd.DataFrame]:
        """`by_group` of users, accounts, partitions and QOS, where there are several; with `verdict`, `share_*`.

        With repetitions, `wait_base`, `wait_other` and `wait_change` are means over them, `low` and `high` the ends of the
        interval of the change, and the verdict of a change that may be chance is WITHIN_NOISE; NaN and empty without.
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
    """How far each run of a comparison is from the site's own accounting, which was read from the file `source`.

    `tables` has, by the label of a run, the table that `simunix.metrics.changes.errors` returns; the base comes first.
    """

    source: str
    tables: Mapping[str, pd.DataFrame]

    @property
    def base(self) -> pd.DataFrame:
        """The table of the base."""
        return next(iter(self.tables.values()))

    @cached_property
    def summaries(self) -> dict[str, dict[str, float]]:
        """`error_summary` of each run."""
        return {label: error_summary(table["error"]) for label, table in self.tables.items()}

    @cached_property
    def groups(self) -> dict[str, pd.DataFrame]:
        """`errors_by` of the base's users, accounts, partitions and QOS, where there are several."""
        found = {name: errors_by(self.base, name) for name in GROUPS}
        return {name: table for name, table in found.items() if len(table) > 1}

    @cached_property
    def notes(self) -> list[str]:
        """What limits the errors of the base: jobs that are not on both sides, or were submitted at other moments."""
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
    """All of a comparison. `runs` are the base and the variants, `conclusions` those of the changes, in their order."""

    runs: Sequence[Run]
    changes: Sequence[Change]
    validation: Validation | None = None
    conclusions: Sequence[Conclusion] = ()


def changes_of(runs: Sequence[Run], repeated: Mapping[str, Mapping[int, Run]] | None = None) -> list[Change]:
    """Return what changed from the first run to each other one that has jobs, over the jobs that count.

    `repeated` are the runs of each label by their seeds; without it, each run is the only one. Raises SimunixError for a run
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
    """Return the runs; the workload of each has the base's name, if each has one, so that jobs are matched by number alone."""
    names = [set() if run.jobs is None else set(run.jobs["workload_name"]) for run in runs]
    if not names or not names[0] or any(len(own) > 1 for own in names):
        return list(runs)
    (name,) = names[0]
    return [run if run.jobs is None else _renamed(run, run.jobs, name) for run in runs]


def _renamed(run: Run, jobs: pd.DataFrame, name: str) -> Run:
    contexts = [{**context, "workload": name} for context in run.record.get("contexts") or []]
    record = {**run.record, "contexts": contexts} if contexts else run.record
    return replace(run, jobs=jobs.assign(workload_name=name), record=record)
