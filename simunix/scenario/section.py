"""What all sections of a scenario have in common, and the quantities that they are written in."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from simunix import ranges, units

QUANTITY = WithJsonSchema({"type": ["string", "number"]})
Duration = Annotated[int, BeforeValidator(units.duration_ns), QUANTITY]
Seconds = Annotated[float, BeforeValidator(units.duration_s), QUANTITY]
Rate = Annotated[float, BeforeValidator(units.rate_bytes_per_s), WithJsonSchema({"type": "string"})]
Size = Annotated[int, BeforeValidator(units.size_bytes), QUANTITY]
Speed = Annotated[float, BeforeValidator(units.speed_flops), QUANTITY]


def host_names(value: object) -> tuple[str, ...]:
    if not isinstance(value, str):
        raise ValueError(f"expected a host list such as 'node[1-16]', got {value!r}")
    return tuple(ranges.expand_hosts(value))


HostList = Annotated[tuple[str, ...], BeforeValidator(host_names), WithJsonSchema({"type": "string"})]


class Section(BaseModel):
    """Unknown keys are errors; values cannot be changed after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
