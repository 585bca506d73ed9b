"""Replace AutoDetect lines of a gres.conf by lines for the GPUs in slurm.conf, because emulated hosts have no GPU that
a vendor's library could find.

See gres.conf(5). A Slurm that was built without the library of NVIDIA or AMD reports this, finds no GPUs, and drains
the node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from simunix.ranges import fold_hosts
from simunix.rjms.slurm.files.lines import Line, pair_text, text_lines
from simunix.rjms.slurm.files.nodes import NodeLine

GPU = "gpu"
DETECT = "autodetect"


def detection(lines: Iterable[Line]) -> Line | None:
    """Return the first line that makes Slurm look for GPUs itself; None without one."""
    return next((line for line in lines if line.value(DETECT).lower() not in ("", "off")), None)


def has_files(line: Line) -> bool:
    """Return whether a line of gres.conf names the device files of its GPUs."""
    return bool(line.value("file") or line.value("multiplefiles"))


def answered(path: Path, lines: Sequence[Line], nodes: Iterable[NodeLine]) -> list[Line]:
    """Return the lines of a gres.conf without AutoDetect lines, and with lines that name files for the GPUs which Slurm
    would detect.
    """
    if detection(lines) is None:
        return list(lines)
    bare = (line.with_pairs({name: pair for name, pair in line.pairs.items() if name != DETECT}) for line in lines)
    kept = [line for line in bare if line.value("name") and (line.value("name") != GPU or has_files(line))]
    of_gpus = [line for line in kept if line.value("name") == GPU]
    if not all(line.value("nodename") for line in of_gpus):
        return kept
    covered = {name for line in of_gpus for name in line.hosts("nodename")}
    return [*kept, *text_lines(path, "\n".join(detected(nodes, covered)))]


def detected(nodes: Iterable[NodeLine], covered: Collection[str]) -> Iterator[str]:
    """Yield a line for the GPUs of each kind of node that is not `covered`; GPUs are numbered as the driver numbers
    them.
    """
    for node in nodes:
        names = [name for name in node.names if name not in covered]
        first = 0
        for kind, count in node.gpus if names else ():
            files = f"/dev/nvidia{first}" if count == 1 else f"/dev/nvidia[{first}-{first + count - 1}]"
            words = {"NodeName": fold_hosts(names), "Name": GPU, **({"Type": kind} if kind else {}), "File": files}
            yield " ".join(pair_text(name, value) for name, value in words.items())
            first += count
