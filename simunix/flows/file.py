"""Read and write the JSON files of `simunix net solve`: flows are the input, finish times the output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from rsg_server.errors import SimunixError, quoted
from simunix.scenario.loader import dotted
from simunix.scenario.section import Section

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class FlowRow(Section):
    """A network flow: `bytes` from one host to another, beginning at `start` (virtual seconds).

    The flow gets at most `rate` bytes per second. `weight` is its share of a link, relative to other flows on the link.
    """

    id: str
    src: str
    dst: str
    bytes: NotNegative
    start: NotNegative = 0.0
    rate: Positive | None = None
    weight: Positive = 1.0


class FlowsFile(Section):
    """The content of a file of network flows."""

    flows: list[FlowRow]


class FlowsError(SimunixError):
    """The error that a file of network flows is malformed."""


def read_flows(path: Path) -> list[FlowRow]:
    """Read the network flows of a file. Raises FlowsError with the file and the key if the file is malformed."""
    try:
        document = json.loads(path.read_text())
    except OSError as error:
        raise FlowsError(f"{path}: {error.strerror}; give a JSON file of flows") from None
    except UnicodeDecodeError:
        raise FlowsError(f"{path}: not a text file; flows are JSON") from None
    except json.JSONDecodeError as error:
        raise FlowsError(f"{path}:{error.lineno}: not JSON: {error.msg}") from None
    except ValueError:  # Python raises ValueError for a number of too many digits
        raise FlowsError(f"{path}: not a file of flows: a number of thousands of digits") from None
    except RecursionError:
        raise FlowsError(f"{path}: not a file of flows: nested too deeply") from None
    try:
        rows = FlowsFile.model_validate(document).flows
    except ValidationError as error:
        raise FlowsError(f"{path}: {_message(error)}") from None
    seen: dict[str, int] = {}
    for index, row in enumerate(rows):
        if seen.setdefault(row.id, index) != index:
            raise FlowsError(f"{path}: flows[{index}].id: {row.id!r} is also the id of flows[{seen[row.id]}]; ids must differ")
    return rows


def _message(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    location = first["loc"]
    key = dotted(location)
    if first["type"] == "extra_forbidden":
        known = FlowRow.model_fields if len(location) > 1 else FlowsFile.model_fields
        return f"{key}: unknown key; known: {', '.join(known)}"
    if first["type"] == "missing":
        return f"{key}: missing; add it"
    if first["type"] == "model_type":
        return f"{key or 'the whole file'}: expected an object with {', '.join(FlowRow.model_fields if key else ['flows'])}"
    return f"{key}: {first['msg']}, got {quoted(str(first['input']))}"


def written(rows: list[dict[str, object]]) -> str:
    """Return the finish times as JSON, with a line per flow; seconds have twelve decimals."""
    lines = []
    for row in rows:
        finish = row["finish"]
        seconds = f"{finish:.12f}" if isinstance(finish, float) else "null"
        lines.append(f'  {{"id": {json.dumps(row["id"])}, "finish": {seconds}, "state": {json.dumps(row["state"])}}}')
    return '{"flows": [\n' + ",\n".join(lines) + "\n]}"
