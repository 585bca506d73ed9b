"""What the lines of a slurm.conf say of nodes: NodeName lines with what NodeName=DEFAULT lines before them say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from simunix.rjms.slurm.files.lines import Line, whole_number

_PART = re.compile(r"gpu(?::(?P<kind>[^:()]+))??(?::no_consume)?(?::(?P<count>[0-9]{1,9})(?P<unit>[KMGTP]?))?(?:\(.*\))?", re.I)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40, "P": 50}


@dataclass(frozen=True, slots=True)
class NodeLine:
    """A NodeName line: the nodes that it names, and all that it says of them, by name in small letters."""

    line: Line
    names: tuple[str, ...]
    values: Mapping[str, str]

    def number(self, name: str, default: int) -> int:
        """Return a whole number. Raises SimunixError with file and line."""
        return whole_number(self.values[name], f"{self.line.place}: {name}") if name in self.values else default

    @property
    def features(self) -> tuple[str, ...]:
        """The features of the nodes."""
        text = self.values.get("features", self.values.get("feature", ""))
        return tuple(name for part in text.split(",") if (name := part.strip()))

    @property
    def gpus(self) -> list[tuple[str, int]]:
        """Type ("" for none) and count of each kind of GPU that a node has by its Gres."""
        return gpus_of(self.values.get("gres", ""))


def is_default(line: Line) -> bool:
    """Return whether a line says what holds for the lines of its kind after it."""
    return line.pairs[line.first][1].upper() == "DEFAULT"


def with_defaults(lines: Iterable[Line], kind: str) -> Iterator[tuple[Line, dict[str, str]]]:
    """Yield lines that begin with `kind`, those of DEFAULT left out, with their values and those that DEFAULT lines
    gave before.
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
    """Type and count of each kind of GPU of a Gres list such as gpu:a100:4(S:0-1),gpu:2,nic:1. man slurm.conf(5)."""
    found = []
    for part in re.split(r",(?![^(]*\))", gres):
        if entry := _PART.fullmatch(part.strip()):
            found.append((entry["kind"] or "", int(entry["count"] or 1) << _UNITS[(entry["unit"] or "").upper()]))
    return found
