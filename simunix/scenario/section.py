"""The base class of all sections of a scenario, and the types of quantities in them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from simunix import ranges, units

CpuPolicy = Literal["free", "charged", "modelled"]
"""The CPU policy, which says how long computing takes in virtual time; see rsg_server/processor/policies.py."""
QUANTITY = WithJsonSchema({"type": ["string", "number"]})
Duration = Annotated[int, BeforeValidator(units.duration_ns), QUANTITY]
Seconds = Annotated[float, BeforeValidator(units.duration_s), QUANTITY]
Rate = Annotated[float, BeforeValidator(units.rate_bytes_per_s), WithJsonSchema({"type": "string"})]
Size = Annotated[int, BeforeValidator(units.size_bytes), QUANTITY]
Speed = Annotated[float, BeforeValidator(units.speed_flops), QUANTITY]


def host_names(value: object) -> tuple[str, ...]:
    """Return the names in a host list, in the written order. Raises ValueError for a malformed list."""
    if not isinstance(value, str):
        raise ValueError(f"expected a host list such as 'node[1-16]', got {value!r}")
    return tuple(ranges.expand_hosts(value))


HostList = Annotated[tuple[str, ...], BeforeValidator(host_names), WithJsonSchema({"type": "string"})]


def _file_name(value: str) -> str:
    """Return a name if files can be called by it: it contains no slash, and is short enough for what is added to it.
    Raises ValueError otherwise.
    """
    if (
        not value
        or value in (".", "..")
        or len(value.encode(errors="replace")) > 200
        or not value.isprintable()
        or "/" in value
    ):
        raise ValueError(f"expected a name that a file can have, of 1 to 200 characters without '/', got {value[:60]!r}")
    return value


FileName = Annotated[str, AfterValidator(_file_name)]
"""A name after which files of a run are called."""


def _function_name(value: str) -> str:
    """Return the name of a function in a Python module, MODULE:FUNCTION, unchanged. Raises ValueError for any other
    text.
    """
    module, _, function = value.partition(":")
    if not all(word.isidentifier() for word in (*module.split("."), function)):
        raise ValueError(f"expected MODULE:FUNCTION such as 'application:master', got {value[:60]!r}")
    return value


FunctionName = Annotated[str, AfterValidator(_function_name)]


def printable(path: Path) -> Path:
    """Return a path unchanged if a message can show it on one line. Raises ValueError otherwise."""
    if not str(path).isprintable():
        raise ValueError(f"expected a path without line breaks, got {str(path)[:60]!r}")
    return path


def check_private(path: str) -> None:
    """Raise ValueError for a private path that is not an absolute, normal path."""
    if not path.startswith("/") or path.rstrip("/") == "" or {".", "..", ""} & set(path.strip("/").split("/")):
        raise ValueError(f"expected absolute paths below /, without '..', got {path[:60]!r}")


def _command(value: object) -> tuple[str, ...]:
    if isinstance(value, str) and value.strip():
        return ("/bin/sh", "-c", value)
    if isinstance(value, (list, tuple)) and value and all(isinstance(word, (str, int, float)) for word in value):
        return tuple(str(word) for word in value)
    raise ValueError(f"expected a command as a text or a list of words, got {value!r}")


CommandLine = Annotated[
    tuple[str, ...],
    BeforeValidator(_command),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class Section(BaseModel):
    """A section of a scenario. Unknown keys are errors, and values cannot be changed after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)
