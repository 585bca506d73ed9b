"""storages.csv of a run, read again: what part of its bandwidth each storage used over time."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rsg_server.errors import SimunixError
from rsg_server.storage.usage import COLUMNS
from simunix.launch.debug.observation import STORAGES_FILE

SHOWN_MAX = 8
"""Most storages of a figure: those that moved most bytes."""


@dataclass(frozen=True, slots=True)
class StorageUse:
    """`moments` in seconds; by storage, per cent of its bandwidth from each moment on. Most used storages come first."""

    moments: np.ndarray
    used: dict[str, np.ndarray]
    total: int


def read_storage_use(directory: Path) -> StorageUse | None:
    """The SHOWN_MAX busiest storages of a run; None for a run in which no storage did anything. SimunixError names the line."""
    path = directory / STORAGES_FILE
    if not path.exists():
        return None
    parts: dict[str, dict[float, float]] = {}
    sizes: dict[str, int] = {}
    ends: dict[float, float] = {}
    try:
        with path.open(newline="") as file:
            reader = csv.reader(file)
            if tuple(next(reader, ())) != COLUMNS:
                raise SimunixError(f"{path}:1: expected the columns {','.join(COLUMNS)}")
            for number, row in enumerate(reader, 2):
                try:
                    moment, lasted, name, read, written, _, _, part = row
                    parts.setdefault(name, {})[float(moment)] = float(part) * 100
                    ends[float(moment)] = float(moment) + float(lasted)
                    sizes[name] = sizes.get(name, 0) + int(read) + int(written)
                except ValueError:
                    raise SimunixError(f"{path}:{number}: expected {','.join(COLUMNS)}, got {','.join(row)!r}") from None
    except OSError as error:
        raise SimunixError(f"{path}: {error.strerror}") from error
    if not parts:
        return None
    moments = np.array(sorted({0.0, *ends, *ends.values()}))
    shown = sorted(parts, key=lambda name: (-sizes[name], name))[:SHOWN_MAX]
    used = {name: np.array([parts[name].get(moment, 0.0) for moment in moments.tolist()]) for name in shown}
    return StorageUse(moments, used, len(parts))
