"""Compare, for each program, the computing times that the learned table predicts with those that were charged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from rsg_server.processor.costs import point_kind
from simunix.calibration.measured import Measured, prices_of

NS = 10**9


@dataclass(frozen=True, slots=True)
class Foretold:
    """The computing of a program in all runs, all threads added: the nanoseconds charged, and the prediction from the
    other runs.

    `unseen_calls` is the number of calls and clock reads for which the other runs have no computing time.
    """

    program: str
    charged_s: float
    predicted_s: float
    unseen_calls: int
    calls: int

    @property
    def error(self) -> float:
        """The error of the prediction, as a part of what was charged: 0.1 is 10 %."""
        return self.predicted_s / self.charged_s - 1 if self.charged_s else 0.0


def price_of(prices: Mapping[str, int], point: str) -> int | None:
    """Return the nanoseconds of computing before a call, from the table of the call's program and thread; None if the
    table has no entry for the call.
    """
    return prices.get(point, prices.get(point_kind(point)))


def foretold(runs: Sequence[dict[str, Measured]]) -> list[Foretold]:
    """Predict each run from all other runs (a single run from itself). Return a row for each program, the program
    charged most first.
    """
    sums: dict[str, list[float]] = {}
    for number, run in enumerate(runs):
        prices = prices_of([*runs[:number], *runs[number + 1 :]] or runs)
        for program, measured in run.items():
            known = {point: price_of(prices.get(program, {}), point) for point in measured.costs}
            sum_of = sums.setdefault(program.partition(":")[0], [0.0, 0.0, 0, 0])
            sum_of[0] += measured.charged_ns / NS
            sum_of[1] += sum(cost.calls * (known[point] or 0) for point, cost in measured.costs.items()) / NS
            sum_of[2] += sum(cost.calls for point, cost in measured.costs.items() if known[point] is None)
            sum_of[3] += sum(cost.calls for cost in measured.costs.values())
    found = [Foretold(program, row[0], row[1], int(row[2]), int(row[3])) for program, row in sums.items()]
    return sorted(found, key=lambda row: (-row.charged_s, row.program))


def table_of(rows: Sequence[Foretold], runs: int) -> Table:
    """Return the table, for the terminal, of the computing times predicted and charged for each program; `runs` is the
    number of runs.
    """
    by = "of the other runs" if runs > 1 else "of the same run: name several to test them on what they have not seen"
    table = Table(title=f"charged, and foretold by the prices {by}")
    for name in ("program", "calls", "not seen", "charged, s", "foretold, s", "error"):
        table.add_column(name, justify="left" if name == "program" else "right")
    for row in rows:
        figures = (f"{row.charged_s:.3f}", f"{row.predicted_s:.3f}", f"{row.error:+.0%}")
        table.add_row(row.program, f"{row.calls:,}", f"{row.unseen_calls:,}", *figures)
    return table
