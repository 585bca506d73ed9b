"""Reading run.json: only what a run writes there passes, so that whoever uses it need not look twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rsg_server.errors import SimunixError

Number = Annotated[float, Field(gt=-1e18, lt=1e18, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, lt=1 << 63)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _File(_Strict):
    path: str | None = None
    sha256: str | None = None


class _Context(_Strict):
    workload: str
    running: list[int]
    waiting: list[int]
    reasons: list[str] = []


class _Record(_Strict):
    """Keys that are used (`simunix.results.run_json` says what they mean). Earlier releases lack some; none is required."""

    name: str | None = None
    simunix: str | None = None
    rjms: str | None = None
    ended: str | None = None
    failure: str | None = None
    seed: Count | None = None
    virtual_s: Number | None = None
    wall_s: Number | None = None
    speed_up: Number | None = None
    epoch_s: Number | None = None
    cores: Count | None = None
    events_sha256: str | None = None
    deterministic: bool | None = None
    valid: bool | None = None
    overrides: list[str] | None = None
    inputs: dict[str, _File] | None = None
    programs: dict[str, _File] | None = None
    roots: list[dict[str, Any]] | None = None
    counts: dict[str, Count] | None = None
    contexts: list[_Context] | None = None


def read_record(path: Path) -> dict[str, Any]:
    """The object as it is in the file. Raises FileNotFoundError, and SimunixError with file and key for what no run wrote."""
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or f"not JSON ({error})"
        raise SimunixError(f"{path}: {reason}; run the scenario again") from error
    if not isinstance(record, dict):
        raise SimunixError(f"{path}: expected an object, as simunix run writes it; run the scenario again")
    try:
        _Record.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        got = f"{first['input']!r:.60}"
        raise SimunixError(f"{path}: {key}: {first['msg']}, got {got}; run the scenario again") from error
    return record
