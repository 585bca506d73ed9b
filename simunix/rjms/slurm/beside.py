"""Files beside a user's own slurm.conf: which go along, the devices that gres.conf names, and what will drain a node."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.ranges import expand_hosts
from simunix.rjms.slurm.configuration import CONFIG
from simunix.rjms.slurm.lines import Line, flattened, read_lines

FOLDER = "/etc/slurm"
KNOWN = (
    "gres.conf",
    "topology.conf",
    "job_submit.lua",
    "burst_buffer.lua",
    "burst_buffer.conf",
    "cli_filter.lua",
    "acct_gather.conf",
    "mpi.conf",
    "job_container.conf",
)
"""Files that Slurm looks for beside slurm.conf by itself. cgroup.conf is simunix's own: hosts have no cgroups."""
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
    if not text:
        return []
    try:
        return [f"/{part}" for part in _paths(text)]
    except ValueError as error:
        raise SimunixError(f"{line.place}: {name}: {error}") from error


def _paths(text: str) -> Iterator[str]:
    for part in re.split(r",(?![^\[]*\])", text):
        folder, _, name = part.lstrip("/").rpartition("/")
        yield from (f"{folder}/{each}" if folder else each for each in expand_hosts(name))


def _nodes(line: Line, nodes: Sequence[str]) -> Sequence[str]:
    text = line.value("nodename")
    if not text:
        return nodes
    try:
        named = set(expand_hosts(text))
    except ValueError as error:
        raise SimunixError(f"{line.place}: NodeName: {error}") from error
    return [node for node in nodes if node in named]


def will_drain(config: Path, conf: str, nodes: Sequence[str]) -> Iterator[str]:
    """Warnings of nodes whose GPUs slurmd will not find: their node is drained, natively and here."""
    path = config.parent / "gres.conf"
    lines = list(read_lines(path, GRES)) if path.is_file() else []
    counted: dict[str, int] = dict.fromkeys(nodes, 0)
    for line in lines:
        if line.value("name") == "gpu" and (count := len(_expanded(line, "file"))):
            for node in _nodes(line, nodes):
                counted[node] += count
    wanted = gpus_of(conf)
    short = [node for node in nodes if wanted.get(node, 0) > counted[node]]
    if short:
        first = short[0]
        yield (
            f"{path}: {len(short)} nodes ({first} …) have Gres=gpu in slurm.conf, {wanted[first]} of them on {first}, but "
            f"File= names {counted[first]}: slurmd drains such a node; add NodeName={first} Name=gpu File=/dev/nvidia[0-…]"
        )


def gpus_of(conf: str) -> Mapping[str, int]:
    """How many GPUs each node has by its NodeName line."""
    found: dict[str, int] = {}
    for line in re.sub(r"\\\n", " ", conf).splitlines():
        node = re.match(r"\s*NodeName=(\S+)", line, re.IGNORECASE)
        gres = re.search(r"\bGres=(\S+)", line.split("#", 1)[0], re.IGNORECASE)
        if node and gres and node[1].upper() != "DEFAULT":
            parts = [part.split("(")[0].split(":") for part in gres[1].strip('"').split(",")]
            count = sum(int(part[-1]) if part[-1].isdecimal() else 1 for part in parts if part[0] == "gpu")
            found.update(dict.fromkeys(expand_hosts(node[1]), count))
    return found
