"""A site's gres.conf as the emulated nodes need it: without detection, with a file for each GPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from simunix.ranges import fold_hosts
from simunix.rjms.slurm.files.lines import Line, file_text, pair_text, read_lines, text_of
from simunix.rjms.slurm.site.anonymous import anonymous_lines
from simunix.rjms.slurm.site.changes import Change
from simunix.rjms.slurm.site.conf import SiteConf
from simunix.rjms.slurm.site.names import Names

WITHOUT_FILE = "kept, but without File= slurmd drains such a node; add File=/dev/nvidia[0-…], and the files are made"

DETECTED = "left out: Slurm detects these GPUs at the site, and here they have lines with files, as all GPUs of a node must"


def gres_text(path: Path, conf: SiteConf, names: Names | None = None) -> str:
    """The gres.conf that runs. GPUs that the site lets Slurm detect get files by what slurm.conf says of their nodes."""
    lines: list[Line] = []
    covered: set[str] = set()
    read = read_lines(path, "a gres.conf")
    written = list(read if names is None else anonymous_lines(read, names, conf.changes, path.name))
    detects = any(line.value("autodetect").lower() not in ("", "off") for line in written)
    everywhere = False
    for line in written:
        if detect := line.value("autodetect"):
            told = f"AutoDetect={detect}"
            conf.changes.append(Change(line.place, told, "left out: there are no GPUs; files stand for them"))
        kept = line.with_pairs({key: pair for key, pair in line.pairs.items() if key != "autodetect"})
        if not kept.value("name") or (found := _of_nodes(kept, conf)) is None:
            continue
        if line.value("name") == "gpu" and not line.value("file"):
            conf.changes.append(Change(line.place, text_of(found.pairs), DETECTED if detects else WITHOUT_FILE))
            lines += [] if detects else [found]
            continue
        lines.append(found)
        if line.value("name") == "gpu":
            everywhere = everywhere or not line.value("nodename")
            covered.update(line.hosts("nodename"))
    detected = _detected(conf, covered) if detects and not everywhere else ()
    return file_text(lines) + "".join(f"{text}\n" for text in detected)


def _of_nodes(line: Line, conf: SiteConf) -> Line | None:
    """A line for the nodes that there are; None if there are none of those that it names."""
    return conf.references.without(line, "nodename") if line.value("nodename").strip() else line


def _detected(conf: SiteConf, covered: set[str]) -> Iterator[str]:
    """A line for the GPUs of each kind of node, numbered as the driver numbers them."""
    for node in conf.node_lines:
        names = [name for name in node.names if name not in covered]
        first = 0
        for kind, count in node.gpus if names else ():
            files = f"/dev/nvidia{first}" if count == 1 else f"/dev/nvidia[{first}-{first + count - 1}]"
            words = {"NodeName": fold_hosts(names), "Name": "gpu", **({"Type": kind} if kind else {}), "File": files}
            yield " ".join(pair_text(name, value) for name, value in words.items())
            first += count
