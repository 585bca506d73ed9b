"""Read links.csv of a run: the bytes per second of each link over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.network.usage import COLUMNS
from simunix.columns import number, read_columns, whole

KINDS = (number, str, whole, number, number)
"""The functions that convert the fields of links.csv, in the order of COLUMNS."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The traffic of each link: moment in seconds -> (bytes, bytes per second, part of the bandwidth). At other moments
    the link was idle.
    """

    path: Path
    links: dict[str, dict[float, tuple[int, float, float]]]

    @property
    def moments(self) -> list[float]:
        """All moments at which an interval begins, in seconds, ascending."""
        return sorted({moment for rows in self.links.values() for moment in rows})

    @property
    def interval_s(self) -> float:
        """The length of an interval of links.csv in seconds, computed from bytes and rates. The last interval may be
        shorter.
        """
        longest = max(size / rate for rows in self.links.values() for size, rate, _ in rows.values() if rate > 0)
        return float(f"{longest:.5g}")

    def bytes_of(self, link: str) -> int:
        """Return all bytes that a link carried."""
        return sum(size for size, _, _ in self.links[link].values())

    def curves(self, names: Sequence[str]) -> tuple[list[float], list[list[float]]]:
        """Return moments in seconds, and for each link the per cent of its bandwidth from each moment on; idle links have 0."""
        begins = self.moments
        moments = sorted({0.0, *begins, *(round(moment + self.interval_s, 9) for moment in begins)})
        parts = [[100 * self.links[name].get(moment, (0, 0.0, 0.0))[2] for moment in moments] for name in names]
        return moments, parts

    def chosen(self, names: Sequence[str], busiest: int) -> list[str]:
        """Return the links in `names` or, without names, the `busiest` links that carried the most bytes. Raises
        SimunixError for unknown names.
        """
        for name in names:
            if name not in self.links:
                known = ", ".join(sorted(self.links)[:12])
                raise SimunixError(f"--links: {name!r} carried nothing in {self.path}; those that did: {known}")
        return list(names) or sorted(self.links, key=lambda link: (-self.bytes_of(link), link))[:busiest]


def read_usage(path: Path) -> Usage:
    """Read links.csv. The text of a SimunixError contains file and line."""
    links: dict[str, dict[float, tuple[int, float, float]]] = {}
    mend = "give the directory of a run with --link-usage"
    for moment, link, size, rate, part in read_columns(path, COLUMNS, KINDS, SimunixError, mend):
        links.setdefault(link, {})[moment] = (size, rate, part)
    if not links:
        raise SimunixError(f"{path}: no link carried anything")
    return Usage(path, links)
