"""The settings of an experiment (combinations of levels), each with the metrics of its repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

from simunix.sweep.runs import Run
from simunix.sweep.table import DONE

Repetition = tuple[int, int]
"""The number of a repetition and its seed, by which runs of two settings are paired."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A combination of levels: its short `name`, its `levels` by factor, and the row of results.csv for each
    repetition.

    Only valid runs that ended regularly have rows.
    """

    name: str
    levels: tuple[tuple[str, str], ...]
    rows: Mapping[Repetition, Mapping[str, Any]]
    runs: Mapping[Repetition, Run]

    def values(self, metric: str) -> dict[Repetition, float]:
        """Return the metric of each repetition; NaN for a run without the metric, such as one without jobs."""
        return {each: _number(row.get(metric)) for each, row in self.rows.items()}


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and isfinite(value) else nan


def settings_of(rows: Mapping[Run, Mapping[str, Any]]) -> list[Setting]:
    """Return the settings in the order of the runs, including those without a finished run."""
    found: dict[tuple[tuple[str, str], ...], dict[Repetition, tuple[Run, Mapping[str, Any]]]] = {}
    for run, row in rows.items():
        own = found.setdefault(run.levels, {})
        if row["status"] == DONE and row.get("valid", True):
            own[run.repetition, run.seed] = (run, row)
    names = short_names(list(found))
    return [
        Setting(name, levels, {key: row for key, (_, row) in own.items()}, {key: run for key, (run, _) in own.items()})
        for name, (levels, own) in zip(names, found.items(), strict=True)
    ]


def short_names(settings: Sequence[tuple[tuple[str, str], ...]]) -> list[str]:
    """Return a name for each setting: its levels of those factors that vary, without words with which all levels of a
    factor begin.

    For numbers and booleans, the last part of the factor's name stands in front, because `latency=1ms` says more than
    `1ms`.
    """
    varying = [place for place in range(len(settings[0]) if settings else 0) if len({each[place][1] for each in settings}) > 1]
    shown = {place: _shown([each[place] for each in settings]) for place in varying}
    return [", ".join(shown[place][each[place][1]] for place in varying) or "all runs" for each in settings]


def _shown(levels: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return, for each level, the text that identifies it among the levels of its factor."""
    factor = levels[0][0].rpartition(".")[2]
    texts = list(dict.fromkeys(level for _, level in levels))
    beginning = texts[0].rpartition("/")[0] + "/"
    if all(text.startswith(beginning) for text in texts):
        texts_shown = {text: text.removeprefix(beginning) for text in texts}
    else:
        texts_shown = {text: text for text in texts}
    if any(text[:1].isdigit() or text in ("true", "false", "null") for text in texts):
        return {text: f"{factor}={shown}" for text, shown in texts_shown.items()}
    return texts_shown
