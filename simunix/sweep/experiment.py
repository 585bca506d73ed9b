"""The format of experiment files: a base scenario, factors, repetitions. `simunix schema --experiment` prints it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from simunix.rjms.scenario import load
from simunix.scenario.loader import read_document, validated
from simunix.scenario.located import ScenarioError
from simunix.scenario.model import Scenario
from simunix.scenario.section import FileName, Section

Setting = dict[str, Any]


def _levels(value: object) -> object:
    if isinstance(value, list) and value:
        labels = [label(each) for each in value]
        if twice := next((each for each in labels if labels.count(each) > 1), None):
            raise ValueError(f"the level {twice} is there twice; levels must differ")
        return value
    if isinstance(value, dict) and value and all(isinstance(each, dict) for each in value.values()):
        return {str(name): each for name, each in value.items()}
    raise ValueError(
        f"expected a list of values, or names with what each sets, such as {{fast: {{KEY: VALUE}}}}, got {value!r}"
    )


def _perturb(value: object) -> object:
    if value is None or isinstance(value, (bool, dict)):
        return value
    raise ValueError(f"expected true, false, or kinds such as {{submission: 2s}}, got {value!r:.60}")


_LEVELS_SCHEMA = WithJsonSchema(
    {
        "anyOf": [
            {"type": "array", "minItems": 1},
            {"type": "object", "minProperties": 1, "additionalProperties": {"type": "object"}},
        ]
    }
)
Seed = Annotated[int, Field(ge=0, lt=1 << 63)]
Levels = Annotated[list[Any] | dict[str, Setting], BeforeValidator(_levels), _LEVELS_SCHEMA]


def label(value: object) -> str:
    """Return the text that stands for a value of a key in names and tables."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


class Experiment(Section):
    """A base scenario, and the keys that are varied.

    A factor is a key of the scenario, as in `--set`, with a list of values; or a factor is a name of your own with
    named levels, each of which sets several keys. Every combination of levels is run `repetitions` times. Repetition r
    has the seed `seed` + r (by default the scenario's seed + r), or the r-th of `seeds`. `set` sets keys in all runs;
    `perturb` replaces the scenario's key of that name. If runs are perturbed, the scenario's seed 0 counts as 1, since
    the seed 0 perturbs nothing.
    """

    name: FileName = "experiment"
    description: str = ""
    scenario: Path = Field(strict=False)
    set: Setting = {}
    perturb: Annotated[bool | Setting | None, BeforeValidator(_perturb)] = None
    factors: dict[str, Levels] = {}
    repetitions: Annotated[int, Field(ge=1)] | None = None
    seed: Seed | None = None
    seeds: Annotated[list[Seed], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Experiment:
        if self.seeds is not None and self.seed is not None:
            raise ValueError("seed and seeds both say how runs are seeded; keep one")
        if self.seeds is not None and self.repetitions not in (None, len(self.seeds)):
            raise ValueError(f"repetitions is {self.repetitions}, but there are {len(self.seeds)} seeds; make them agree")
        return self


def load_experiment(path: Path) -> Experiment:
    """Read and check an experiment file; the scenario's path becomes absolute. Raises ScenarioError."""
    document, positions = read_document(path, "an experiment file (docs/guide/experiments.md)", "scenario")
    experiment = validated(Experiment, document, positions)
    scenario = (path.parent / experiment.scenario).resolve()
    if not scenario.is_file():
        raise ScenarioError(f"{positions.where(('scenario',))}: scenario: {scenario}: no such file; give the base scenario")
    return experiment.model_copy(update={"scenario": scenario})


def common_settings(experiment: Experiment) -> Setting:
    """Return the values of the keys that are set in all runs."""
    return experiment.set if experiment.perturb is None else {"perturb": experiment.perturb, **experiment.set}


def own_seed(experiment: Experiment) -> int:
    """Return the seed of the first repetition for an experiment without a list of seeds."""
    if experiment.seed is not None:
        return experiment.seed
    scenario = load(experiment.scenario)
    is_perturbed = may_be_perturbed(experiment, scenario)
    return 1 if scenario.seed == 0 and is_perturbed else scenario.seed


def may_be_perturbed(experiment: Experiment, scenario: Scenario) -> bool:
    """Return whether the key `perturb` of any run asks for a perturbation."""
    levels = (level for each in experiment.factors.values() if isinstance(each, dict) for level in each.values())
    settings = [common_settings(experiment), *levels]
    said = [value for setting in settings for key, value in setting.items() if is_perturb(key)]
    said += [value for key, values in experiment.factors.items() if is_perturb(key) for value in values]
    is_own = scenario.perturb is not None and not scenario.perturb.is_nothing
    return any(value not in (None, False, {}) for value in said) or (is_own and "perturb" not in common_settings(experiment))


def is_perturb(key: str) -> bool:
    """Return whether a key of a scenario is `perturb`, or lies within that section."""
    return key.partition(".")[0] == "perturb"
