"""Adapt a site's gres.conf to the emulated nodes: no AutoDetect, and a device file for each GPU."""

from __future__ import annotations

from pathlib import Path

from simunix.rjms.slurm.files.gres import DETECT, GPU, detected, detection, has_files
from simunix.rjms.slurm.files.lines import Line, file_text, read_lines, text_of
from simunix.rjms.slurm.site.anonymous import anonymous_lines
from simunix.rjms.slurm.site.changes import Change
from simunix.rjms.slurm.site.conf import SiteConf
from simunix.rjms.slurm.site.gpu_places import place_gpus
from simunix.rjms.slurm.site.names import Names

WITHOUT_FILE = "kept, but without File= slurmd drains such a node; add File=/dev/nvidia[0-…], and the files are made"

DETECTED = "left out: Slurm detects these GPUs at the site, and here they have lines with files, as all GPUs of a node must"


def gres_text(path: Path, conf: SiteConf, names: Names | None = None) -> str:
    """Return the adapted gres.conf. If the site lets Slurm detect GPUs, files are made for the GPUs that slurm.conf
    gives to the nodes.
    """
    lines: list[Line] = []
    covered: set[str] = set()
    read = read_lines(path, "a gres.conf")
    written = list(read if names is None else anonymous_lines(read, names, conf.changes, path.name))
    detects = detection(written) is not None
    everywhere = False
    for line in written:
        if detect := line.value(DETECT):
            told = f"AutoDetect={detect}"
            conf.changes.append(Change(line.place, told, "left out: there are no GPUs; devices that do nothing stand for them"))
        kept = line.with_pairs({key: pair for key, pair in line.pairs.items() if key != DETECT})
        if not kept.value("name") or (found := _of_nodes(kept, conf)) is None:
            continue
        if line.value("name") == GPU and not has_files(line):
            conf.changes.append(Change(line.place, text_of(found.pairs), DETECTED if detects else WITHOUT_FILE))
            lines += [] if detects else [found]
            continue
        lines.append(found)
        if line.value("name") == GPU:
            everywhere = everywhere or not line.value("nodename")
            covered.update(line.hosts("nodename"))
    place_gpus(conf, lines)
    found_there = detected(conf.node_lines, covered) if detects and not everywhere else ()
    return file_text(lines) + "".join(f"{text}\n" for text in found_there)


def _of_nodes(line: Line, conf: SiteConf) -> Line | None:
    """Return a line for those of its nodes that exist; None if none of them does."""
    return conf.references.without(line, "nodename") if line.value("nodename").strip() else line
