"""Read a site's slurm.conf and rewrite it so that it runs in an emulation: which hosts it needs, and what was changed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.files.lines import Line, pair_text, read_lines, text_of
from simunix.rjms.slurm.files.nodes import NodeLine, is_default, node_lines, with_defaults
from simunix.rjms.slurm.installed import Setting
from simunix.rjms.slurm.own_configuration import parameters_of
from simunix.rjms.slurm.site.anonymous import anonymous_lines
from simunix.rjms.slurm.site.changes import NEEDED, NODE_WORDS, RULES, SUBMIT_SCRIPT, TAKEN, Change
from simunix.rjms.slurm.site.names import Names
from simunix.rjms.slurm.site.references import NOT_YET, References
from simunix.scenario.device_section import NODES_MOST, devices_most

WHAT = "a slurm.conf"
FRONT_END = "left out: Slurm has no front ends any more; each node is a host with a slurmd of its own"
COUNTED_AS_SOCKETS = ("numa_node_as_socket", "l3cache_as_socket")
"""The SlurmdParameters under which Slurm counts NUMA nodes or last-level caches as sockets. Hosts with
`numa_per_socket: 1` have one of them in each socket.
"""


@dataclass(frozen=True, slots=True)
class SiteNode:
    """The nodes of one NodeName line, with the sizes that slurmd must find on them."""

    names: tuple[str, ...]
    sockets: int
    cores_per_socket: int
    threads: int
    memory_mib: int
    disk_mib: int
    gpus: tuple[tuple[str, int], ...] = ()

    @property
    def cpus(self) -> int:
        """The number of logical processors of each node."""
        return self.sockets * self.cores_per_socket * self.threads


@dataclass(slots=True)
class SiteConf:
    """The facts about a site's slurm.conf that the scenario needs. `text` is the adapted file; `scripts` are copied, if
    the user wants that.
    """

    cluster: str = "cluster"
    controller: str = ""
    database: bool = False
    nodes: list[SiteNode] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    wants_scripts: bool = False
    scripts: list[Path] = field(default_factory=list)
    kept: list[Setting] = field(default_factory=list)
    node_lines: list[NodeLine] = field(default_factory=list)
    gpu_places: dict[tuple[str, ...], tuple[tuple[str, int, int | None], ...]] = field(default_factory=dict)
    references: References = field(default_factory=lambda: References([], frozenset(), frozenset()))

    def keep(self, line: Line, written: str, value: str) -> None:
        """Keep a parameter with the site's value, and write its place in the site's file in front, so that messages at
        the start of a run can name it.
        """
        self.lines += [f"# from {line.place}", pair_text(written, value)]
        self.kept.append(Setting(line.place, written, value))

    @property
    def text(self) -> str:
        """The text of the adapted slurm.conf."""
        return "\n".join(self.lines) + "\n"


def read_conf(path: Path, wants_scripts: bool = False, names: Names | None = None) -> SiteConf:
    """Read a slurm.conf with the files that it includes; names are replaced by `names`, if given. Raises SimunixError
    with file and line.
    """
    conf = SiteConf(wants_scripts=wants_scripts)
    read = read_lines(path, WHAT)
    lines = list(read if names is None else anonymous_lines(read, names, conf.changes, "slurm.conf"))
    _find_nodes(conf, lines)
    said: dict[str, str] = {}
    for line in lines:
        if line.first in SEVERAL:
            kept = SEVERAL[line.first](conf, line)
            conf.lines += [] if kept is None else [text_of(kept.pairs)]
        for one, written, value in parameters_of([line]):
            _parameter(conf, one, written.lower(), written, value)
            said[written.lower()] = value
    conf.cluster = said.get("clustername", "cluster")
    if not conf.controller:
        conf.controller = re.split(r"[,(]", said.get("controlmachine", ""))[0]
    if not conf.controller:
        raise SimunixError(f"{path}: no SlurmctldHost; say where slurmctld runs")
    if not conf.nodes:
        raise SimunixError(f"{path}: no NodeName; a cluster needs nodes (or its file was not included)")
    partitions = {line.value("partitionname") for line, _ in with_defaults(lines, "partitionname")}
    if partitions and partitions <= conf.references.gone:
        raise SimunixError(f"{path}: the nodes of all partitions are {NOT_YET}; give one nodes that are")
    _finish(conf, said)
    return conf


def _finish(conf: SiteConf, said: dict[str, str]) -> None:
    conf.database = said.get("accountingstoragetype", "").endswith("slurmdbd")
    head = [f"{name}={RULES[key][0]}" for key, name in NEEDED.items()]
    head += [f"SlurmctldHost={conf.controller}", "SlurmdUser=root"]
    if conf.database:
        head += ["AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=slurmdbd"]
    if "clustername" not in said:
        head.append(f"ClusterName={conf.cluster}")
    conf.lines[:0] = ["# Written by simunix from the site's slurm.conf.", *head]


def _parameter(conf: SiteConf, line: Line, name: str, written: str, value: str) -> None:
    if name in ("slurmctldhost", "controlmachine"):
        host = re.split(r"[,(]", value)[0]
        if conf.controller and name == "slurmctldhost":
            conf.changes.append(Change(line.place, f"{written}={value}", "left out: there is one controller"))
        elif name == "slurmctldhost":
            conf.controller = host
            if "(" in value:
                conf.changes.append(Change(line.place, f"{written}={value}", f"{host}: addresses are the run's own"))
    elif name in ("accountingstoragetype", "accountingstoragehost", "slurmduser"):
        if name == "accountingstoragehost" and value != "slurmdbd":
            conf.changes.append(Change(line.place, f"{written}={value}", "the database runs on the host slurmdbd"))
        elif name == "accountingstoragetype" and not value.endswith(("slurmdbd", "none")):
            conf.changes.append(Change(line.place, f"{written}={value}", "left out: there is slurmdbd, or none"))
    elif conf.wants_scripts and (script := _script(line.path.parent, name, value)):
        conf.scripts.append(script)
        conf.keep(line, written, value if name not in TAKEN else f"/etc/slurm/{script.name}")
    elif name in REFERRING:
        if (kept := REFERRING[name](conf.references, line)) is not None:
            conf.keep(line, written, kept.value(name))
    elif name in RULES:
        replacement, reason = RULES[name]
        if replacement is None:
            conf.changes.append(Change(line.place, f"{written}={value}", f"left out: {reason}"))
        elif replacement != value:
            conf.changes.append(Change(line.place, f"{written}={value}", f"{replacement}: {reason}"))
        if replacement is not None and name not in NEEDED:
            conf.lines.append(f"{written}={replacement}")
    else:
        conf.keep(line, written, value)


def _script(folder: Path, name: str, value: str) -> Path | None:
    """Return the script that a parameter names, from the folder of slurm.conf; None if it does not exist."""
    known = name in TAKEN or (name == "jobsubmitplugins" and value == "lua")
    script = folder / (Path(value).name if name in TAKEN else SUBMIT_SCRIPT)
    return script if known and script.is_file() else None


def _find_nodes(conf: SiteConf, lines: Sequence[Line]) -> None:
    """Find the nodes that exist, and what refers to them. Raises SimunixError with file and line."""
    absent = []
    first: dict[str, Line] = {}
    for node in node_lines(lines):
        if not node.names:
            raise SimunixError(f"{node.line.place}: NodeName: expected names, got ''; mend the line")
        for name in node.names:
            if (line := first.setdefault(name, node.line)) is not node.line or node.names.count(name) > 1:
                raise SimunixError(f"{node.line.place}: NodeName: {name} is named twice, first in {line.place}; name it once")
        if node.values.get("state", "").upper().startswith(("FUTURE", "CLOUD")):
            absent.append(node)
        else:
            conf.nodes.append(_sizes(node))
            conf.node_lines.append(node)
    conf.references = References.of(conf.node_lines, absent, lines, conf.changes)


def _node(conf: SiteConf, line: Line) -> Line | None:
    """Return a NodeName line without the words that the run sets itself; None if its nodes do not exist yet (CLOUD,
    FUTURE).
    """
    name = line.value("nodename")
    if not is_default(line) and not conf.references.there.intersection(line.hosts("nodename")):
        said = line.value("state") or "of NodeName=DEFAULT"
        conf.changes.append(Change(line.place, f"NodeName={name} State={said}", f"left out: {NOT_YET}"))
        return None
    for key, (written, value) in line.pairs.items():
        if key in NODE_WORDS:
            conf.changes.append(Change(line.place, f"{written}={value}", f"left out: {NODE_WORDS[key]}"))
    return line.with_pairs({key: pair for key, pair in line.pairs.items() if key not in NODE_WORDS})


def _node_set(conf: SiteConf, line: Line) -> Line | None:
    if "nodes" in line.pairs:
        return conf.references.without(line, "nodes")
    if line.value("nodeset") in conf.references.sets:
        return line
    conf.changes.append(Change(line.place, text_of(line.pairs), f"left out: its nodes are {NOT_YET}"))
    return None


def _front_end(conf: SiteConf, line: Line) -> None:
    conf.changes.append(Change(line.place, f"FrontendName={line.value('frontendname')}", FRONT_END))


SEVERAL: Mapping[str, Callable[[SiteConf, Line], Line | None]] = {
    "nodename": _node,
    "partitionname": lambda conf, line: conf.references.partition(line),
    "downnodes": lambda conf, line: conf.references.without(line, "downnodes"),
    "nodeset": _node_set,
    "frontendname": _front_end,
}
"""The functions that adapt lines of which a file may have several, by the line's first name; None as a result removes
the line.
"""
REFERRING: Mapping[str, Callable[[References, Line], Line | None]] = {
    "suspendexcnodes": References.suspended,
    "suspendexcparts": References.partitions,
}
"""The functions that adapt parameters which name nodes or partitions."""


def _sizes(node: NodeLine) -> SiteNode:
    number = node.number
    threads, cpus = max(1, number("threadspercore", 1)), number("cpus", number("procs", 1))
    boards = max(1, number("boards", 1))
    sockets = number("socketsperboard", 0) * boards or number("sockets", 0)
    cores = number("corespersocket", 0)
    if not sockets and not cores:
        sockets, cores = 1, max(1, cpus // threads)
    elif not cores:
        cores = max(1, cpus // (sockets * threads)) if cpus > 1 else 1
    elif not sockets:
        sockets = max(1, cpus // (cores * threads))
    return SiteNode(node.names, sockets, cores, threads, number("realmemory", 1), number("tmpdisk", 0), tuple(node.gpus))


def _gpus(node: SiteNode, numa_nodes: int) -> list[dict[str, object]]:
    """Return the GPUs of a host for the scenario; [] if they are more than the host's PCI buses have room for."""
    if sum(count for _, count in node.gpus) > devices_most(numa_nodes):
        return []
    return [{**({"type": kind} if kind else {}), "count": count} for kind, count in node.gpus if count]


def _placed(kind: str, count: int, numa: int | None) -> dict[str, object]:
    """Return the entry for a number of GPUs of one type at one NUMA node, or (None) without a node."""
    return {**({"type": kind} if kind else {}), "count": count, **({} if numa is None else {"numa": numa})}


def host_sections(conf: SiteConf) -> Iterator[dict[str, object]]:
    """Yield the entries of hosts for the scenario; nodes of one line are one entry. A host has at least 16/15 of the
    memory that Slurm may give to jobs.

    The sockets of the site's slurm.conf may be NUMA nodes or last-level caches, and slurmd must find as many. GPUs that
    gres.conf binds to the cores of a socket are at the socket's NUMA node.
    """
    values = [setting.value.lower() for setting in conf.kept if setting.name.lower() == "slurmdparameters"]
    counts_nodes = any(word in value for value in values for word in COUNTED_AS_SOCKETS)
    for node in conf.nodes:
        memory = max(1024, math.ceil(node.memory_mib * 17 / 16) + 64)
        entry: dict[str, object] = {"name": list(node.names), "cores": node.cpus, "sockets": node.sockets}
        entry |= {"threads_per_core": node.threads} if node.threads > 1 else {}
        places = conf.gpu_places.get(node.names, ())
        numa = {"numa_per_socket": 1} if places or (counts_nodes and node.sockets <= NODES_MOST) else {}
        gpus = [_placed(*place) for place in places] or _gpus(node, node.sockets if numa else 1)
        entry |= numa | ({"gpus": gpus} if gpus else {})
        entry |= {"memory": f"{memory}MiB"}
        yield entry | ({"disk": f"{node.disk_mib * 2}MiB"} if node.disk_mib > 1 << 19 else {})
