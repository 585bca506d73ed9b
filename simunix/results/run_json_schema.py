"""The schema of run.json: the types of the keys that simunix reads again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rsg_server.errors import quoted

Number = Annotated[float, Field(gt=-1e18, lt=1e18, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, lt=1 << 63)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _File(_Strict):
    path: str | None = None
    sha256: str | None = None
    package: str | None = None


class _Context(_Strict):
    workload: str
    running: list[int]
    waiting: list[int]
    reasons: list[str] = []


class _Record(_Strict):
    """The keys of run.json that readers use (see `simunix.results.run_json.RunRecord`). All are optional, because
    earlier releases lack some.
    """

    name: str | None = None
    simunix: str | None = None
    rjms: str | None = None
    ended: str | None = None
    failure: str | None = None
    failed_processes: list[str] = []
    failed_checks: list[str] = []
    seed: Count | None = None
    virtual_s: Number | None = None
    wall_s: Number | None = None
    speed_up: Number | None = None
    epoch_s: Number | None = None
    cores: Count | None = None
    events_sha256: str | None = None
    deterministic: bool | None = None
    disturbances: list[str] | None = None
    valid: bool | None = None
    overrides: list[str] | None = None
    inputs: dict[str, _File] | None = None
    programs: dict[str, _File] | None = None
    roots: list[dict[str, Any]] | None = None
    depends_on: dict[str, Any] | None = None
    counts: dict[str, Count] | None = None
    hosts: dict[str, Any] | None = None
    cpu_policy: str | None = None
    cpu_policies: dict[str, Any] | None = None
    contexts: list[_Context] | None = None
    metrics: dict[str, float | None] | None = None


def problem_of(record: Mapping[str, Any]) -> str | None:
    """Describe the first key whose value no run writes: what was expected, and what was found. Return None if all
    values are right.
    """
    try:
        _Record.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        got = quoted(first["input"])
        return f"{key}: {first['msg']}, got {got}"
    return None
