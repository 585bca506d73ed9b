"""Reading events.jsonl, whole or of a run that was killed while it wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError


def read_events(path: Path) -> Iterator[dict[str, Any]]:
    """Event by event; a last line that was cut off is left out. Raises SimunixError with file and line for any other."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                event = _parse(line)
                if event is not None:
                    yield event
                elif line.endswith("\n"):
                    raise SimunixError(f"{path}:{number}: no event of a run: {line.strip()[:60]!r}; run the scenario again")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise SimunixError(f"{path}: {reason}; expected the folder of a run, as simunix run leaves one") from error


def _parse(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    is_event = isinstance(event, dict) and type(event.get("t")) is int and isinstance(event.get("event"), str)
    return event if is_event else None
