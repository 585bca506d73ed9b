"""The keys of a scenario that `--set` can also set for a single command."""

from __future__ import annotations

from collections.abc import Sequence

from rsg_server.errors import SimunixError
from simunix.scenario.loader import from_overrides
from simunix.scenario.model import Scenario

KEYS = (
    "capacity",
    "costs",
    "cpu_costs",
    "cpu_policy",
    "cpu_reference",
    "environment",
    "epoch",
    "pace",
    "preempt_after",
    "privileged",
    "seed",
    "shared",
    "strict",
    "until",
)


def settings_of(overrides: Sequence[str]) -> Scenario:
    """Return a scenario with the values that the KEY=VALUE texts of `--set` give to keys in `KEYS`. The model's
    `model_fields_set` names the keys that were given.
    """
    for override in overrides:
        if override.partition("=")[0].partition(".")[0] not in KEYS:
            raise SimunixError(f"--set {override}: a single command has only the keys {', '.join(KEYS)}; run a scenario")
    return from_overrides(Scenario, {"hosts": [{"name": "localhost"}]}, "a single command", overrides)
