"""Check an imported scenario by reading it as a run does: each file, and every node, partition and switch that the
files name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.rjms.scenario import load
from simunix.rjms.slurm.files.lines import Line, read_lines
from simunix.rjms.slurm.files.nodes import node_lines
from simunix.rjms.slurm.own_configuration import parameters_of
from simunix.rjms.slurm.site.changes import Change
from simunix.rjms.slurm.site.references import References
from simunix.workload.formats.by_name import read_trace

LISTS = {
    "partitionname": ("nodes",),
    "nodeset": ("nodes",),
    "downnodes": ("downnodes",),
    "switchname": ("nodes",),
    "blockname": ("nodes",),
}
"""The names whose values are lists of nodes that must exist, by the lower-case first name of the line."""


def read_back(folder: Path) -> None:
    """Read all files in a scenario's folder. Raises SimunixError for content that a run would refuse, and for a list
    that names a node which does not exist.
    """
    conf = list(read_lines(folder / "slurm.conf", "a slurm.conf"))
    list(parameters_of(conf))
    nodes = list(node_lines(conf))
    changes: list[Change] = []
    references = References.of(nodes, [], conf, changes)
    for line in (*conf, *_beside(folder)):
        lists = ("nodename",) if line.path.name == "gres.conf" else LISTS.get(line.first, ())
        for name in lists:
            if name in line.pairs:
                references.without(line, name)
        if line.first == "suspendexcnodes":
            references.suspended(line)
    if changes:
        wrong = changes[0]
        raise SimunixError(f"{wrong.place}: {wrong.what}: {wrong.reason}; the import has written what Slurm refuses: report it")
    load(folder / "scenario.yaml")
    if (jobs := folder / "jobs.csv").is_file():
        read_trace(jobs)


def _beside(folder: Path) -> Iterator[Line]:
    for name in ("gres.conf", "topology.conf"):
        if (path := folder / name).is_file():
            yield from read_lines(path, f"a {name}")
