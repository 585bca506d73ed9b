"""Reads events.jsonl, also of a run that was killed while it wrote the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError

LAST_NS = 1 << 63
KEYS: dict[str, dict[str, type]] = {
    "process_start": {"number": int, "argv": list},
    "process_exit": {"number": int, "program": str, "pid": int},
    "connect": {"source": str, "destination": str},
}
"""The keys, with the types of their values, that readers of these events need."""


def read_events(path: Path) -> Iterator[dict[str, Any]]:
    """Yield event after event; a last line that was cut off is left out.

    Raises SimunixError with file and line for any other malformed line.
    """
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
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        return None
    kinds = {"t": int, **KEYS.get(event["event"], {})}
    is_whole = all(type(event.get(key)) is kind for key, kind in kinds.items()) and 0 <= event["t"] < LAST_NS
    return event if is_whole and 0 <= event.get("born", 0) <= event["t"] else None
