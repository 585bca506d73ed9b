"""storages.csv of a run, read again: what part of its bandwidth each storage used over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rsg_server.errors import SimunixError
from rsg_server.storage.usage import COLUMNS
from simunix.columns import number, read_columns, whole
from simunix.launch.debug.observation import STORAGES_FILE

KINDS = (number, number, str, whole, whole, whole, number, number)
"""What the fields of COLUMNS are."""
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
    for moment, lasted, name, read, written, _, _, part in read_columns(path, COLUMNS, KINDS, SimunixError):
        parts.setdefault(name, {})[moment] = part * 100
        ends[moment] = moment + lasted
        sizes[name] = sizes.get(name, 0) + read + written
    if not parts:
        return None
    moments = np.array(sorted({0.0, *ends, *ends.values()}))
    shown = sorted(parts, key=lambda name: (-sizes[name], name))[:SHOWN_MAX]
    used = {name: np.array([parts[name].get(moment, 0.0) for moment in moments.tolist()]) for name in shown}
    return StorageUse(moments, used, len(parts))
