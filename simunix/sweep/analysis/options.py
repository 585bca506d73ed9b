"""The options for the evaluation of an experiment. The command line imports this module, so it imports no library that
takes long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

METRICS = ("mean_waiting_time", "mean_bounded_slowdown", "mean_turnaround_time", "makespan", "utilisation")
"""The metrics that are shown if the user names none."""
WIDTH = 0.05
"""The default width of intervals, as a part of the mean, for which the number of repetitions needed is computed."""
FORMATS = ("pdf", "svg", "png")


@dataclass(frozen=True, slots=True, kw_only=True)
class TellOptions:
    """The parts of the evaluation: whether a `table` is printed, the folder for `figures`, and the `metrics` (without
    any, those in METRICS).

    `width` is the width of intervals, as a part of the mean, for which the number of further repetitions is computed.
    """

    table: bool = False
    figures: Path | None = None
    formats: Sequence[str] = FORMATS
    metrics: Sequence[str] = ()
    width: float | None = None

    @property
    def wants_anything(self) -> bool:
        """Whether the user wants a table or pictures."""
        return self.table or self.figures is not None


NOTHING = TellOptions()
