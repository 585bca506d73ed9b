"""Files beside a user's own slurm.conf: which go along, the devices that gres.conf names, and what will drain a node."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.configuration import CONFIG
from simunix.rjms.slurm.files.lines import Line, flattened, host_list, read_lines, text_lines
from simunix.rjms.slurm.files.nodes import node_lines

FOLDER = "/etc/slurm"
KNOWN = (
    "cgroup.conf",
    "gres.conf",
    "topology.conf",
    "job_submit.lua",
    "burst_buffer.lua",
    "burst_buffer.conf",
    "cli_filter.lua",
    "acct_gather.conf",
    "mpi.conf",
    "job_container.conf",
    "oci.conf",
)
"""Files that Slurm looks for beside slurm.conf by itself."""
GRES = "a gres.conf"
VARIABLE = "SLURM_CONF"
_NAMED = re.compile(rf"{FOLDER}/([\w.+-]+)")


def files_beside(config: Path, texts: Collection[str]) -> dict[str, tuple[bytes, int]]:
    """Content and mode, by path on the hosts: of known files, and of those that a text names as /etc/slurm/NAME."""
    found: dict[str, tuple[bytes, int]] = {}
    for name in sorted({*KNOWN, *(found[1] for text in texts for found in _NAMED.finditer(text))} - {config.name}):
        path = config.parent / name
        if not path.is_file() or name == "slurm.conf":
            continue
        content = flattened(path, GRES) if name == "gres.conf" else None
        data = path.read_bytes() if content is None else content.encode()
        found[f"{FOLDER}/{name}"] = (data, 0o755 if path.stat().st_mode & 0o100 else 0o644)
    return found


def replaced(environment: Mapping[str, str], config: Path | None, key: str, folder: Path) -> dict[str, str]:
    """SLURM_CONF as programs on hosts have it, where the scenario's `environment` has it: hosts keep the file below /etc/slurm.

    Slurm looks for all other files beside the one that SLURM_CONF names, and there they are. Raises SimunixError where the
    variable names another file than `config` does: the cluster would be planned by one file, and run by the other.
    """
    named = environment.get(VARIABLE, CONFIG)
    if named == CONFIG:
        return {}
    path = folder / named
    if path.exists() and (config is None or not config.exists() or not path.samefile(config)):
        given = f"{key}.config names {config}" if config else f"{key}.config names none"
        raise SimunixError(f"environment.{VARIABLE}: {named} is a slurm.conf, and {given}; write {key}.config: {named}")
    return {VARIABLE: CONFIG}


def devices(config: Path, nodes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The files below /dev that gres.conf names, by node. Raises SimunixError with file and line."""
    path = config.parent / "gres.conf"
    if not path.is_file():
        return {}
    found: dict[str, dict[str, None]] = {}
    for line in read_lines(path, GRES):
        files = [file for file in _expanded(line, "file") if file.startswith("/dev/")]
        for node in _nodes(line, nodes):
            found.setdefault(node, {}).update(dict.fromkeys(files))
    return {node: tuple(files) for node, files in found.items() if files}


def _expanded(line: Line, name: str) -> list[str]:
    """Paths such as /dev/nvidia[0-3]."""
    text = line.value(name)
    return [f"/{part}" for part in _paths(text, f"{line.place}: {name}")] if text else []


def _paths(text: str, where: str) -> Iterator[str]:
    for part in re.split(r",(?![^\[]*\])", text):
        folder, _, name = part.lstrip("/").rpartition("/")
        yield from (f"{folder}/{each}" if folder else each for each in host_list(name, where))


def _nodes(line: Line, nodes: Sequence[str]) -> Sequence[str]:
    if not line.value("nodename"):
        return nodes
    named = set(line.hosts("nodename"))
    return [node for node in nodes if node in named]


def will_drain(config: Path, conf: str, nodes: Sequence[str]) -> Iterator[str]:
    """Warnings of nodes whose GPUs slurmd will not find: their node is drained, natively and here."""
    path = config.parent / "gres.conf"
    of_conf = node_lines(text_lines(config, conf))
    lines = list(read_lines(path, GRES)) if path.is_file() else []
    counted: dict[str, int] = dict.fromkeys(nodes, 0)
    for line in lines:
        if line.value("name") == "gpu" and (count := len(_expanded(line, "file"))):
            for node in _nodes(line, nodes):
                counted[node] += count
    wanted = {name: sum(count for _, count in node.gpus) for node in of_conf for name in node.names}
    short = [node for node in nodes if wanted.get(node, 0) > counted[node]]
    if short:
        first = short[0]
        yield (
            f"{path}: {len(short)} nodes ({first} …) have Gres=gpu in slurm.conf, {wanted[first]} of them on {first}, but "
            f"File= names {counted[first]}: slurmd drains such a node; add NodeName={first} Name=gpu File=/dev/nvidia[0-…]"
        )
