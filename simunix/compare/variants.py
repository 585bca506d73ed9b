"""Turns the words of the command line into variants: a scenario with settings, or a run that exists already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.report.run_data import MARKS, unique_labels
from simunix.rjms.scenario import load
from simunix.sweep.runs import Run

BASE = "base"
SCENARIOS = (".yaml", ".yml")
LABEL_MAX = 40
FACTOR = "variant"


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant: a scenario with the settings KEY=VALUE in `overrides`, or the folder of a finished run.

    The first variant of a comparison is the base.
    """

    label: str
    path: Path
    overrides: tuple[str, ...] = ()
    is_run: bool = False


def variants_of(paths: Sequence[Path], sets: Sequence[Sequence[str]], everywhere: Sequence[str]) -> list[Variant]:
    """Return the variants in the order of the command line: the scenarios and runs that `paths` name, then a variant of
    the base for each of `sets`.

    `everywhere` are settings of all variants. A path is a scenario, the folder of a run, or, after one scenario, a
    configuration file for the RJMS. Two or more configurations take the place of the scenario's own configuration.
    Raises SimunixError.
    """
    if folders := [path for path in paths if path.is_dir()]:
        return _runs(paths, folders, bool(sets or everywhere))
    for word in everywhere:
        _check_setting(word, "--set-all", "KEY=VALUE")
    scenarios = [path for path in paths if path.suffix in SCENARIOS]
    configurations = [path for path in paths if path.suffix not in SCENARIOS]
    if not scenarios or (configurations and len(scenarios) > 1):
        raise SimunixError(
            f"{configurations[0]}: a configuration needs exactly one scenario: simunix compare SCENARIO.yaml FILE…"
        )
    found = _of_files(scenarios, configurations, tuple(everywhere))
    base = found[0]
    named = [_named(words) for words in sets]
    found += [Variant(label, base.path, (*base.overrides, *settings)) for label, settings in named]
    return _apart(found)


def _runs(paths: Sequence[Path], folders: Sequence[Path], has_settings: bool) -> list[Variant]:
    """Return the variants for the folders of finished runs."""
    if len(folders) < len(paths) or has_settings:
        other = next((path for path in paths if path not in folders), None)
        what = f"{other}: is no run's folder" if other else f"{folders[0]}: is a finished run, whose settings cannot be changed"
        raise SimunixError(f"{what}; compare runs with runs, or scenarios with scenarios")
    for folder in folders:
        if not any((folder / mark).exists() for mark in MARKS):
            raise SimunixError(f"{folder}: is neither a scenario nor the folder of a run: it has no {', no '.join(MARKS)}")
    labels = unique_labels(list(folders))
    return [Variant(label, folder.resolve(), is_run=True) for label, folder in zip(labels, folders, strict=True)]


def _of_files(scenarios: Sequence[Path], configurations: Sequence[Path], everywhere: tuple[str, ...]) -> list[Variant]:
    """Return a variant for each scenario, or for one scenario with each configuration."""
    for path in (*scenarios, *configurations):
        if not path.is_file():
            raise SimunixError(f"{path}: no such file; give scenarios, configurations behind a scenario, or runs' folders")
    labels = [BASE] if len(scenarios) == 1 else _short(scenarios)
    found = [Variant(label, path.resolve(), everywhere) for label, path in zip(labels, scenarios, strict=True)]
    if not configurations:
        return found
    key = f"{_rjms_of(scenarios[0], everywhere)}.config"
    named = zip(_short(configurations), configurations, strict=True)
    own = [Variant(label, found[0].path, (*everywhere, f"{key}={path.resolve()}")) for label, path in named]
    return own if len(own) > 1 else [*found, *own]


def _short(paths: Sequence[Path]) -> list[str]:
    """Return short names of files: without the ending if all files have one ending, and with folders only where file
    names are equal.
    """
    labels = unique_labels(list(paths))
    stems = [str(Path(label).with_suffix("")) for label in labels]
    return stems if len(set(stems)) == len(stems) else labels


def _rjms_of(scenario: Path, overrides: Sequence[str]) -> str:
    """Return the key of the only cluster in a scenario that can have a configuration file of its own. Raises SimunixError."""
    from simunix.rjms.scenario import cluster_sections

    sections = [(key, section) for key, _, section in cluster_sections(load(scenario, overrides))]
    keys = [key for key, section in sections if "config" in type(section).model_fields]
    if len(keys) != 1 or len(sections) != 1:
        raise SimunixError(
            f"{scenario}: {len(sections)} clusters, {len(keys)} of which take a configuration file; "
            "say which with --set KEY.config=FILE"
        )
    return keys[0]


def _named(words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the label and the settings of a --set: `NAME: KEY=VALUE …`; without a name the settings are the label."""
    first = words[0]
    has_name = first.endswith(":") and "=" not in first
    settings = tuple(words[1:] if has_name else words)
    if not settings:
        raise SimunixError(f"--set {first}: expected KEY=VALUE behind the name")
    for word in settings:
        _check_setting(word, "--set", "KEY=VALUE, and before them perhaps NAME:")
    if has_name:
        return first.removesuffix(":") or BASE, settings
    text = ", ".join(f"{word.partition('=')[0].rpartition('.')[2]}={word.partition('=')[2]}" for word in settings)
    return (text if len(text) <= LABEL_MAX else text[: LABEL_MAX - 1] + "…"), settings


def _check_setting(word: str, option: str, expected: str) -> None:
    key, equals, _ = word.partition("=")
    if not key or not equals:
        mend = "; put scenarios before the options" if word.endswith(SCENARIOS) else ""
        raise SimunixError(f"{option} {word}: expected {expected}{mend}")


def _apart(found: Sequence[Variant]) -> list[Variant]:
    """Return the variants with different labels. Raises SimunixError for two equal variants."""
    seen: dict[tuple[Path, tuple[str, ...]], str] = {}
    labels: set[str] = set()
    for variant in found:
        if (earlier := seen.setdefault((variant.path, variant.overrides), variant.label)) != variant.label:
            raise SimunixError(f"{earlier} and {variant.label} are the same scenario with the same settings; leave one out")
        if variant.label in labels:
            raise SimunixError(f"{variant.label}: two variants have this name; name them: --set 'NAME:' KEY=VALUE …")
        labels.add(variant.label)
    return list(found)


def runs_of(variants: Sequence[Variant], seed: int | None, repetitions: int = 1) -> dict[str, list[Run]]:
    """Return the runs to be made for each variant that is no finished run, by the variant's label: one run for each
    seed, from the first seed on.

    The first seed is the given one, or the scenario's; with several repetitions, it is at least 1, since the seed 0
    perturbs nothing. Raises SimunixError for a file that is no scenario, and for repetitions that could not differ.
    """
    found = {}
    for variant in variants:
        if variant.is_run:
            continue
        scenario = load(variant.path, variant.overrides)
        first = scenario.seed if seed is None else seed
        if repetitions > 1:
            first = max(1, first)
            _check_perturbed(variant, first)
        levels = ((FACTOR, variant.label),)
        found[variant.label] = [
            Run(variant.path, levels, number, first + number, variant.overrides, has_siblings=True)
            for number in range(repetitions)
        ]
    return found


def _check_perturbed(variant: Variant, seed: int) -> None:
    if load(variant.path, (*variant.overrides, f"seed={seed}")).perturbation is None:
        raise SimunixError(
            f"--repetitions: all runs of {variant.label} would be equal, as nothing is perturbed; add --set-all perturb=true"
        )
