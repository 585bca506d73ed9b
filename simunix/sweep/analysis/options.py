"""What is to be told of an experiment. Imported by the command line, so that nothing here imports a library that takes long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

METRICS = ("mean_waiting_time", "mean_bounded_slowdown", "mean_turnaround_time", "makespan", "utilisation")
"""What is shown unless metrics are named."""
WIDTH = 0.05
"""The width of an interval, as a part of the mean, for which the repetitions needed are told unless another is asked for."""
FORMATS = ("pdf", "svg", "png")


@dataclass(frozen=True, slots=True, kw_only=True)
class TellOptions:
    """What is told of an experiment: a `table`, `figures` in a folder, of these `metrics` (all of METRICS without any).

    `width` is the width of intervals, as a part of the mean, for which the repetitions still needed are told.
    """

    table: bool = False
    figures: Path | None = None
    formats: Sequence[str] = FORMATS
    metrics: Sequence[str] = ()
    width: float | None = None

    @property
    def wants_anything(self) -> bool:
        """Whether a table or pictures are wanted."""
        return self.table or self.figures is not None


NOTHING = TellOptions()
