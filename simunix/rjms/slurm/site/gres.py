"""A site's gres.conf as the emulated nodes need it: without detection, with a file for each GPU."""

from __future__ import annotations

import re
from pathlib import Path

from simunix.ranges import expand_hosts, fold_hosts
from simunix.rjms.slurm.lines import read_lines
from simunix.rjms.slurm.site.anonymous import anonymous_lines
from simunix.rjms.slurm.site.changes import Change
from simunix.rjms.slurm.site.names import Names

WITHOUT_FILE = "kept, but without File= slurmd drains such a node; add File=/dev/nvidia[0-…], and the files are made"
_GPU = re.compile(r"gpu(?::([\w.-]+?))?(?::(\d+))?(?:\(.*\))?")


def gres_text(path: Path, conf: str, changes: list[Change], names: Names | None = None) -> str:
    """The gres.conf that runs. GPUs that the site lets Slurm detect get files by what slurm.conf says of their nodes."""
    lines: list[str] = []
    covered: set[str] = set()
    everywhere = detects = False
    written = read_lines(path, "a gres.conf")
    for line in written if names is None else anonymous_lines(written, names, changes, path.name):
        detect = line.value("autodetect")
        words = [f"{name}={value}" for key, (name, value) in line.pairs.items() if key != "autodetect"]
        detects = detects or detect.lower() not in ("", "off")
        if detect:
            changes.append(Change(line.place, f"AutoDetect={detect}", "left out: there are no GPUs; files stand for them"))
        if not line.value("name"):
            continue
        lines.append(" ".join(words))
        if line.value("name") == "gpu" and not line.value("file") and not detects:
            changes.append(Change(line.place, " ".join(words), WITHOUT_FILE))
        if line.value("name") == "gpu" and line.value("file"):
            everywhere = everywhere or not line.value("nodename")
            covered.update(expand_hosts(line.value("nodename")) if line.value("nodename") else ())
    if detects and not everywhere:
        lines += _detected(conf, covered)
    return "\n".join(lines) + "\n"


def _detected(conf: str, covered: set[str]) -> list[str]:
    """A line for the GPUs of each kind of node, numbered as the driver numbers them."""
    lines = []
    for text in re.sub(r"\\\n", " ", conf).splitlines():
        node = re.match(r"\s*NodeName=(\S+)", text, re.IGNORECASE)
        gres = re.search(r"\bGres=(\S+)", text, re.IGNORECASE)
        if node is None or gres is None or node[1].upper() == "DEFAULT":
            continue
        names = [name for name in expand_hosts(node[1]) if name not in covered]
        first = 0
        for part in re.split(r",(?![^(]*\))", gres[1]):
            found = _GPU.fullmatch(part)
            if found is None or not names:
                continue
            kind, count = (found[1] or "", int(found[2] or 1))
            if kind.isdecimal():
                kind, count = "", int(kind)
            files = f"/dev/nvidia{first}" if count == 1 else f"/dev/nvidia[{first}-{first + count - 1}]"
            lines.append(f"NodeName={fold_hosts(names)} Name=gpu{f' Type={kind}' if kind else ''} File={files}")
            first += count
    return lines
