"""The key `perturb:` of a scenario: random changes by which runs with different seeds differ, and how large they are."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from simunix import units
from simunix.scenario.section import Section

HISTORY: Literal["history"] = "history"
SUBMISSION_NS = 250_000_000
RUN_TIME = 0.01
CYCLES_NS = 130_000_000
TIMERS_NS = 100_000
LATENCY = 0.04
COMPUTING = 0.2
"""The default magnitudes, as measured on real clusters; docs/studies/fidelity.md#what-differs-between-two-real-runs has
the sources.
"""
MOST_PERCENT = 200.0
_PERCENT = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)\s*%\s*")


def _percent(value: object, default: float) -> float:
    """Return the part, such as 0.05, that a text such as '5%' means; the default for true, 0 for false. Raises
    ValueError for any other value.
    """
    if isinstance(value, bool) or value is None:
        return default if value else 0.0
    match = _PERCENT.fullmatch(value) if isinstance(value, str) and len(value) <= units.LONGEST else None
    if match is None or float(match[1]) > MOST_PERCENT:
        raise ValueError(f"expected per cent from '0%' to '{MOST_PERCENT:g}%', such as '5%', true or false, got {value!r:.60}")
    return float(match[1]) / 100


def _run_time(value: object) -> float | str:
    if value == HISTORY:
        return HISTORY
    try:
        return _percent(value, RUN_TIME)
    except ValueError as error:
        raise ValueError(f"{error}; or {HISTORY}") from None


def _duration(value: object, default_ns: int) -> int:
    """Return a duration in nanoseconds; the default for true, 0 for false. Raises ValueError for any other value."""
    if isinstance(value, bool) or value is None:
        return default_ns if value else 0
    return units.duration_ns(value)


_SCHEMA = WithJsonSchema({"type": ["string", "number", "boolean"]})
_TEXT = WithJsonSchema({"type": ["string", "boolean"]})


class PerturbSection(Section):
    """The random changes of a run, which follow from its seed. A kind of perturbation that is not named does not occur;
    `true` is the magnitude measured on real clusters.

    `submission`: each job is submitted later than the trace says, by an exponentially distributed time with this mean.
    `run_time`: each job's run time is multiplied by a lognormal factor with mean 1 and this standard deviation;
    `history`: the job uses as large a part of its limit as another job of its user, which is chosen at random. `ties`:
    jobs of one moment are submitted in a random order. `cycles`: a wait of a second or more of the RJMS's controller
    ends later, by a time with this mean; `timers`: so does each timed wait there. `latency`: each link's latency,
    `computing`: the costs of calls, and of each modelled program, are multiplied by a lognormal factor with this
    standard deviation.
    """

    submission: Annotated[int, BeforeValidator(lambda value: _duration(value, SUBMISSION_NS)), _SCHEMA] = 0
    run_time: Annotated[float | Literal["history"], BeforeValidator(_run_time), _TEXT] = 0.0
    ties: bool = False
    cycles: Annotated[int, BeforeValidator(lambda value: _duration(value, CYCLES_NS)), _SCHEMA] = 0
    timers: Annotated[int, BeforeValidator(lambda value: _duration(value, TIMERS_NS)), _SCHEMA] = 0
    latency: Annotated[float, BeforeValidator(lambda value: _percent(value, LATENCY)), _TEXT] = 0.0
    computing: Annotated[float, BeforeValidator(lambda value: _percent(value, COMPUTING)), _TEXT] = 0.0

    @property
    def is_nothing(self) -> bool:
        """Whether no kind of perturbation is asked for."""
        return not any(getattr(self, name) for name in PerturbSection.model_fields)


EVERYTHING = dict.fromkeys(PerturbSection.model_fields, True)


def _perturb(value: object) -> object:
    """Return a section for the short forms: all kinds for true, none for false."""
    if isinstance(value, bool) or value is None:
        return EVERYTHING if value else None
    if not isinstance(value, (dict, PerturbSection)):
        raise ValueError(f"expected true, false, or kinds such as {{submission: 2s}}, got {value!r:.60}")
    return value


def _allow_boolean(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [{"type": "boolean"}, *schema["anyOf"]]


Perturb = Annotated[PerturbSection | None, BeforeValidator(_perturb), Field(json_schema_extra=_allow_boolean)]
