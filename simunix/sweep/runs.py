"""Make the runs of an experiment: all combinations of levels and repetitions, each with a permanent name."""

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
    """A run of an experiment: `levels` by factor, and `overrides` as for --set.

    The run's name, which is also its folder's, depends on these fields alone. The scenario is part of the name if
    `has_siblings`: the folder also has runs of other scenarios.
    """

    scenario: Path
    levels: tuple[tuple[str, str], ...]
    repetition: int
    seed: int
    overrides: tuple[str, ...]
    has_siblings: bool = False

    @property
    def name(self) -> str:
        """The name of the run: a readable beginning and a unique end, without characters that overlay mounts do not
        allow in paths.
        """
        slug = "_".join(f"{factor.rpartition('.')[2]}={level}" for factor, level in self.levels)
        readable = re.sub(r"[^A-Za-z0-9._=+-]", "_", slug)[:SLUG_MAX].strip(".")
        identity = [self.overrides, self.repetition, self.seed, *([str(self.scenario)] if self.has_siblings else [])]
        digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:8]
        return "-".join(part for part in (readable, f"r{self.repetition}", digest) if part)


def runs_of(experiment: Experiment) -> list[Run]:
    """Return all runs. The last factor varies fastest, and the repetitions of a combination follow each other.

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
    """Return a value as a text that --set can read: YAML, on one line if possible."""
    return yaml.safe_dump(value, default_flow_style=True, width=math.inf).removesuffix("...\n").strip()


def _settings(factor: str, levels: Levels) -> Iterator[tuple[str, str, Setting]]:
    """Yield each level of a factor: the factor, the name of the level, and the keys that it sets."""
    if isinstance(levels, dict):
        yield from ((factor, name, setting) for name, setting in levels.items())
    else:
        yield from ((factor, label(value), {factor: value}) for value in levels)


def check(runs: Sequence[Run]) -> None:
    """Raise SimunixError, which names the level, for a run whose scenario would not be valid."""
    for (scenario, overrides), levels in {(run.scenario, run.overrides): run.levels for run in runs}.items():
        try:
            load(scenario, overrides)
        except SimunixError as error:
            where = ", ".join(f"{factor}: {level}" for factor, level in levels) or "every run"
            raise SimunixError(f"{where}: {error}") from None
