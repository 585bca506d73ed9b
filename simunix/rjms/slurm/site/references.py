"""Remove nodes that the scenario does not have from lines that name them; a line without remaining nodes is removed.
All removals are reported.

Nodes that do not exist yet (CLOUD, FUTURE) are not in the scenario. slurmctld ends if a partition, a node set or a
switch names a node without a NodeName line. See slurm.conf(5), topology.conf(5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from simunix.ranges import fold_hosts, split_hosts
from simunix.rjms.slurm.files.lines import Line, host_list
from simunix.rjms.slurm.files.nodes import NodeLine, is_default, with_defaults
from simunix.rjms.slurm.site.changes import Change

ALL = "all"
NOT_YET = "not there yet"
UNKNOWN = "no NodeName line has it"
OF_DEFAULT = "none of the nodes of PartitionName=DEFAULT is there"


Nodes = Sequence[NodeLine]


@dataclass(slots=True)
class References:
    """The nodes, node sets and partitions that exist; every removal is added to `changes`."""

    changes: list[Change]
    there: frozenset[str]
    absent: frozenset[str]
    sets: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, nodes: Nodes, absent: Nodes, lines: Sequence[Line], changes: list[Change]) -> References:
        """Return the references for the nodes of a scenario, the nodes that are left out, and the NodeSet and
        PartitionName lines.
        """
        found = cls(changes, _names_of(nodes), _names_of(absent))
        features = ({feature for node in each for feature in node.features} for each in (nodes, absent))
        found._find_sets(lines, *features)
        found.gone = {
            line.value("partitionname")
            for line, values in with_defaults(lines, "partitionname")
            if values.get("nodes", "").strip() and not found.kept(line, "nodes", values["nodes"])
        }
        return found

    def _find_sets(self, lines: Iterable[Line], features: set[str], absent: set[str]) -> None:
        """Find the node sets that exist: they have a node, or name features that not only missing nodes have."""
        for line in lines:
            if line.first == "nodeset":
                nodes, feature = line.value("nodes"), line.value("feature")
                has_nodes = bool(nodes and self.kept(line, "nodes", nodes))
                if has_nodes or (feature and (feature in features or feature not in absent)):
                    self.sets.add(line.value("nodeset"))

    def kept(self, line: Line, name: str, text: str) -> list[str]:
        """Return those names in a list that exist: nodes, node sets, or ALL."""
        return [each for each in self._names(line, name, text) if self._is_there(each)]

    def _names(self, line: Line, name: str, text: str) -> list[str]:
        written = line.pairs.get(name, (name, ""))[0]
        return host_list(text, f"{line.place}: {written}") if text.strip() else []

    def _is_there(self, name: str) -> bool:
        return name in self.there or name in self.sets or name.lower() == ALL

    def without(self, line: Line, name: str) -> Line | None:
        """Return a line whose list `name` contains only what exists; None if nothing in the list exists. A complete
        list is kept unchanged.
        """
        text = line.value(name)
        names = self._names(line, name, text)
        kept = [each for each in names if self._is_there(each)]
        if len(kept) == len(names):
            return line
        missing = [each for each in names if not self._is_there(each)]
        reason = NOT_YET if self.absent.intersection(missing) else UNKNOWN
        written, told = line.pairs[line.first]
        place = f"{written}={told}" if line.first == name else f"{written}={told}: {line.pairs[name][0]}={text}"
        if not kept:
            self.changes.append(Change(line.place, place, f"left out: {fold_hosts(missing)}: {reason}"))
            return None
        self.changes.append(Change(line.place, place, f"without {fold_hosts(missing)}: {reason}"))
        return line.with_value(name, fold_hosts(kept))

    def partition(self, line: Line) -> Line | None:
        """Return a PartitionName line without missing nodes; None if the partition has no other nodes."""
        found: Line | None = line
        if "nodes" in line.pairs:
            found = self.without(line, "nodes")
            if found is None and is_default(line):
                return _less(line, "nodes")
        elif line.value("partitionname") in self.gone:
            self.changes.append(Change(line.place, _first(line), f"left out: {OF_DEFAULT}"))
            return None
        if found is not None and (other := found.value("alternate")) in self.gone:
            self.changes.append(Change(line.place, f"{_first(line)}: Alternate={other}", "left out: the partition is left out"))
            return _less(found, "alternate")
        return found

    def partitions(self, line: Line) -> Line | None:
        """Return a line with a list of partitions, such as SuspendExcParts, without missing ones; None if none of them
        exists.
        """
        names = line.value(line.first).split(",")
        kept = [name for name in names if name not in self.gone]
        if len(kept) == len(names):
            return line
        self.changes.append(Change(line.place, _first(line), "without partitions that are left out"))
        return line.with_value(line.first, ",".join(kept)) if kept else None

    def suspended(self, line: Line) -> Line | None:
        """Return a SuspendExcNodes line without missing nodes. The host lists of such a line may each have a count
        after a colon; see slurm.conf(5).
        """
        text = line.value(line.first)
        if ":" not in text:
            return self.without(line, line.first)
        kept = []
        for part in split_hosts(text):
            nodes, colon, count = part.partition(":")
            if names := self.kept(line, line.first, nodes):
                kept.append(f"{fold_hosts(names)}{colon}{count}")
        if (told := ",".join(kept)) != text:
            self.changes.append(Change(line.place, _first(line), f"{told or 'left out'}: without nodes that are not there"))
        return line.with_value(line.first, told) if kept else None

    def topology(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Yield the lines of a topology.conf, without switches and blocks that have no nodes left."""
        told = list(lines)
        found = [line if "nodes" not in line.pairs else self.without(line, "nodes") for line in told]
        gone = {line.value(line.first) for line, kept in zip(told, found, strict=True) if kept is None}
        left = [line for line in found if line is not None]
        while True:
            trimmed = [self._of_switches(line, gone) for line in left]
            empty = {line.value(line.first) for line, kept in zip(left, trimmed, strict=True) if kept is None}
            left = [line for line in trimmed if line is not None]
            if not empty:
                yield from left
                return
            gone |= empty

    def _of_switches(self, line: Line, gone: set[str]) -> Line | None:
        if not gone or "switches" not in line.pairs:
            return line
        names = line.hosts("switches")
        kept = [name for name in names if name not in gone]
        if len(kept) == len(names):
            return line
        missing = fold_hosts(name for name in names if name in gone)
        if kept or "nodes" in line.pairs:
            self.changes.append(Change(line.place, _first(line), f"without {missing}: left out"))
            return line.with_value("switches", fold_hosts(kept)) if kept else _less(line, "switches")
        self.changes.append(Change(line.place, _first(line), f"left out: {missing} is left out"))
        return None


def _names_of(nodes: Nodes) -> frozenset[str]:
    return frozenset(name for node in nodes for name in node.names)


def _first(line: Line) -> str:
    written, value = line.pairs[line.first]
    return f"{written}={value}"


def _less(line: Line, name: str) -> Line:
    pairs: Mapping[str, tuple[str, str]] = {key: pair for key, pair in line.pairs.items() if key != name}
    return line.with_pairs(pairs)
