"""From an experiment to its runs: all combinations of levels and repetitions, each with a name that never changes."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from rsg_server.errors import SimunixError
from simunix.rjms.scenario import load
from simunix.sweep.experiment import Experiment, Levels, Setting, common_settings, label, own_seed

SLUG_MAX = 40
RUNS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class Run:
    """One run: `levels` by factor, and `overrides` as for --set.

    The name, also of the run's folder, is determined by these fields alone. The scenario is part of it if `has_siblings`: the
    folder has runs of other scenarios too.
    """

    scenario: Path
    levels: tuple[tuple[str, str], ...]
    repetition: int
    seed: int
    overrides: tuple[str, ...]
    has_siblings: bool = False

    @property
    def name(self) -> str:
        """A readable beginning and a unique end, without characters that paths in an overlay of a host cannot have."""
        slug = "_".join(f"{factor.rpartition('.')[2]}={level}" for factor, level in self.levels)
        readable = re.sub(r"[^A-Za-z0-9._=+-]", "_", slug)[:SLUG_MAX].strip(".")
        identity = [self.overrides, self.repetition, self.seed, *([str(self.scenario)] if self.has_siblings else [])]
        digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:8]
        return "-".join(part for part in (readable, f"r{self.repetition}", digest) if part)


def runs_of(experiment: Experiment) -> list[Run]:
    """Return all runs: the last factor varies fastest, repetitions of a combination follow one another.

    Raises SimunixError for more than RUNS_MAX runs.
    """
    repetitions = len(experiment.seeds) if experiment.seeds else experiment.repetitions or 1
    count = repetitions
    for levels in experiment.factors.values():
        count *= len(levels)
    if count > RUNS_MAX:
        raise SimunixError(f"{experiment.name}: {count:,} runs are more than {RUNS_MAX:,}; leave out some levels")
    seeds = experiment.seeds or [own_seed(experiment) + number for number in range(repetitions)]
    runs = []
    for combination in itertools.product(*(list(_settings(name, levels)) for name, levels in experiment.factors.items())):
        settings = dict(common_settings(experiment))
        for _, _, setting in combination:
            settings.update(setting)
        overrides = tuple(f"{key}={_written(value)}" for key, value in settings.items())
        levels_of_run = tuple((factor, level) for factor, level, _ in combination)
        runs += [Run(experiment.scenario, levels_of_run, number, seed, overrides) for number, seed in enumerate(seeds)]
    return runs


def _written(value: object) -> str:
    """Return a value as --set reads it: YAML, on one line as far as that is possible."""
    return yaml.safe_dump(value, default_flow_style=True, width=math.inf).removesuffix("...\n").strip()


def _settings(factor: str, levels: Levels) -> Iterator[tuple[str, str, Setting]]:
    """Yield each level: the factor, the name of the level, and the keys that it sets."""
    if isinstance(levels, dict):
        yield from ((factor, name, setting) for name, setting in levels.items())
    else:
        yield from ((factor, label(value), {factor: value}) for value in levels)


def check(runs: Sequence[Run]) -> None:
    """Raise SimunixError, which names the level, for a variant that is not a valid scenario."""
    for (scenario, overrides), levels in {(run.scenario, run.overrides): run.levels for run in runs}.items():
        try:
            load(scenario, overrides)
        except SimunixError as error:
            where = ", ".join(f"{factor}: {level}" for factor, level in levels) or "every run"
            raise SimunixError(f"{where}: {error}") from None
