"""Find what a slurm.conf says about nodes: NodeName lines, combined with the NodeName=DEFAULT lines before them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from simunix.rjms.slurm.files.lines import Line, whole_number

_PART = re.compile(r"gpu(?::(?P<kind>[^:()]+))??(?::no_consume)?(?::(?P<count>[0-9]{1,9})(?P<unit>[KMGTP]?))?(?:\(.*\))?", re.I)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40, "P": 50}


@dataclass(frozen=True, slots=True)
class NodeLine:
    """A NodeName line: the nodes that it names, and its values by lower-case name."""

    line: Line
    names: tuple[str, ...]
    values: Mapping[str, str]

    def number(self, name: str, default: int) -> int:
        """Return the whole number that a name has on the line; `default` without it. Raises SimunixError with file and
        line.
        """
        return whole_number(self.values[name], f"{self.line.place}: {name}") if name in self.values else default

    @property
    def features(self) -> tuple[str, ...]:
        """The features of the nodes."""
        text = self.values.get("features", self.values.get("feature", ""))
        return tuple(name for part in text.split(",") if (name := part.strip()))

    @property
    def gpus(self) -> list[tuple[str, int]]:
        """The type ("" for none) and number of each kind of GPU that each node has by its Gres."""
        return gpus_of(self.values.get("gres", ""))


def is_default(line: Line) -> bool:
    """Return whether a line sets the defaults for later lines of its kind."""
    return line.pairs[line.first][1].upper() == "DEFAULT"


def with_defaults(lines: Iterable[Line], kind: str) -> Iterator[tuple[Line, dict[str, str]]]:
    """Yield the lines that begin with `kind`, except for DEFAULT lines, with their values and those of DEFAULT lines
    before them.
    """
    defaults: dict[str, str] = {}
    for line in lines:
        if line.first != kind:
            continue
        values = {name: value for name, (_, value) in line.pairs.items()}
        if is_default(line):
            defaults |= {name: value for name, value in values.items() if name != kind}
        else:
            yield line, defaults | values


def node_lines(lines: Iterable[Line]) -> Iterator[NodeLine]:
    """Yield the NodeName lines of a slurm.conf. Raises SimunixError with file and line."""
    for line, values in with_defaults(lines, "nodename"):
        yield NodeLine(line, tuple(line.hosts("nodename")), values)


def gpus_of(gres: str) -> list[tuple[str, int]]:
    """Return the type and number of each kind of GPU in a Gres list such as gpu:a100:4(S:0-1),gpu:2,nic:1; see
    slurm.conf(5).
    """
    found = []
    for part in re.split(r",(?![^(]*\))", gres):
        if entry := _PART.fullmatch(part.strip()):
            found.append((entry["kind"] or "", int(entry["count"] or 1) << _UNITS[(entry["unit"] or "").upper()]))
    return found
