"""Read storages.csv of a run: the bytes that each storage read and wrote, and the used part of its bandwidth, over
time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rsg_server.errors import SimunixError
from rsg_server.storage.usage import COLUMNS
from simunix.columns import number, read_columns, whole
from simunix.launch.debug.observation import STORAGES_FILE

KINDS = (number, number, str, whole, whole, whole, number, number)
"""The kinds of the fields of COLUMNS."""
SHOWN_MAX = 8
"""The most storages in a figure; those that moved the most bytes are shown."""


@dataclass(frozen=True, slots=True)
class StorageUse:
    """The use of storages over time, as step functions by the storage's name; the storages that moved the most bytes
    come first.

    `moments` are seconds; from each moment on, `read` and `written` are bytes per second, `used` per cent of the bandwidth.
    """

    moments: np.ndarray
    read: dict[str, np.ndarray]
    written: dict[str, np.ndarray]
    used: dict[str, np.ndarray]
    total: int


def read_storage_use(directory: Path) -> StorageUse | None:
    """Read the SHOWN_MAX storages of a run that moved the most bytes; None if no storage moved any.

    The text of a SimunixError contains the line.
    """
    path = directory / STORAGES_FILE
    if not path.exists():
        return None
    rows: dict[str, dict[float, tuple[float, float, float]]] = {}
    sizes: dict[str, int] = {}
    ends: dict[float, float] = {}
    for moment, lasted, name, read, written, _, _, part in read_columns(path, COLUMNS, KINDS, SimunixError):
        rates = (read / lasted, written / lasted) if lasted > 0 else (0.0, 0.0)
        rows.setdefault(name, {})[moment] = (*rates, part * 100)
        ends[moment] = moment + lasted
        sizes[name] = sizes.get(name, 0) + read + written
    if not rows:
        return None
    moments = np.array(sorted({0.0, *ends, *ends.values()}))
    shown = sorted(rows, key=lambda name: (-sizes[name], name))[:SHOWN_MAX]
    nothing = (0.0, 0.0, 0.0)
    found = {name: np.array([rows[name].get(moment, nothing) for moment in moments.tolist()]).T for name in shown}
    read_, written_, used = ({name: values[place] for name, values in found.items()} for place in range(3))
    return StorageUse(moments, read_, written_, used, len(rows))
