"""The complete scenario format: the generic part (`simunix.scenario.model`), and a section for each supported RJMS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, create_model

from simunix.rjms.adapter import ClusterSection, Rjms
from simunix.rjms.registry import RJMSS
from simunix.scenario import loader, model


def _field(section: type[ClusterSection]) -> Any:
    """Return the field of a section: a cluster, a list of clusters, or nothing."""
    clusters = list[section] | None  # type: ignore[valid-type]
    return Annotated[clusters, BeforeValidator(model.one_or_more), Field(json_schema_extra=model.allow_one)], None


Scenario: type[model.Scenario] = create_model(
    "Scenario",
    __base__=model.Scenario,
    __doc__=model.Scenario.__doc__,
    **{name: _field(rjms.section) for name, rjms in RJMSS.items()},
)
"""The model of a scenario file. For mypy its type is the generic one; `cluster_sections` reads the sections of RJMSs.
"""


def load(path: Path, overrides: Sequence[str] = ()) -> model.Scenario:
    """Read and check a scenario file; `overrides` are the KEY=VALUE texts of --set. Raises ScenarioError for a wrong
    value.
    """
    return loader.load(Scenario, path, overrides)


def cluster_sections(scenario: model.Scenario) -> Iterator[tuple[str, Rjms, ClusterSection]]:
    """Yield, for every cluster of a scenario, the key in the file, the RJMS and the section."""
    for name, rjms in RJMSS.items():
        sections = getattr(scenario, name, None) or []
        for index, section in enumerate(sections):
            yield name if len(sections) == 1 else f"{name}[{index}]", rjms, section
