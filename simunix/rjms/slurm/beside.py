"""The files beside a user's own slurm.conf: which files hosts get, the devices that gres.conf names, and which nodes
slurmd will drain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.configuration import CONFIG
from simunix.rjms.slurm.files.gres import DETECT, GPU, answered, detection
from simunix.rjms.slurm.files.lines import Line, file_text, flattened, host_list, read_lines, text_lines
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
"""The files that Slurm itself looks for beside slurm.conf."""
GRES = "a gres.conf"
ELSEWHERE = "not made, as devices are below /dev alone; slurmd ends if the host has no such file"
VARIABLE = "SLURM_CONF"
_NAMED = re.compile(rf"{FOLDER}/([\w.+-]+)")


def files_beside(config: Path, conf: str, texts: Collection[str]) -> dict[str, tuple[bytes, int]]:
    """Return the content and mode of files by their path on hosts: the known files, and those that `conf` or a text
    mentions as /etc/slurm/NAME.
    """
    found: dict[str, tuple[bytes, int]] = {}
    for name in sorted({*KNOWN, *(found[1] for text in (conf, *texts) for found in _NAMED.finditer(text))} - {config.name}):
        path = config.parent / name
        if not path.is_file() or name == "slurm.conf":
            continue
        content = _gres_text(config, conf) if name == "gres.conf" else None
        data = path.read_bytes() if content is None else content.encode()
        found[f"{FOLDER}/{name}"] = (data, 0o755 if path.stat().st_mode & 0o100 else 0o644)
    return found


def replaced(environment: Mapping[str, str], config: Path | None, key: str, folder: Path) -> dict[str, str]:
    """Return the variable SLURM_CONF as it is on hosts, if the scenario's `environment` sets it: hosts have the file
    below /etc/slurm.

    Slurm looks for its other files beside the file in SLURM_CONF. Raises SimunixError if the variable names another
    file than `config` does, since the cluster would be planned by one file and run by the other.
    """
    named = environment.get(VARIABLE, CONFIG)
    if named == CONFIG:
        return {}
    path = folder / named
    if path.exists() and (config is None or not config.exists() or not path.samefile(config)):
        given = f"{key}.config names {config}" if config else f"{key}.config names none"
        raise SimunixError(f"environment.{VARIABLE}: {named} is a slurm.conf, and {given}; write {key}.config: {named}")
    return {VARIABLE: CONFIG}


def gres_lines(config: Path, conf: str) -> list[Line]:
    """Return the lines of the gres.conf beside a slurm.conf, as hosts get them. Raises SimunixError with file and line."""
    path = config.parent / "gres.conf"
    return answered(path, list(read_lines(path, GRES)), node_lines(text_lines(config, conf))) if path.is_file() else []


def _gres_text(config: Path, conf: str) -> str:
    """Return the text of the gres.conf for hosts: the user's own with its included files or, if it asks for AutoDetect,
    with lines for the GPUs instead.
    """
    path = config.parent / "gres.conf"
    return flattened(path, GRES) if detection(read_lines(path, GRES)) is None else file_text(gres_lines(config, conf))


def devices(config: Path, conf: str, nodes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the files below /dev that gres.conf names, by node. Raises SimunixError with file and line."""
    found: dict[str, dict[str, None]] = {}
    for line in gres_lines(config, conf):
        files = [file for file in _files(line) if file.startswith("/dev/")]
        for node in _nodes(line, nodes):
            found.setdefault(node, {}).update(dict.fromkeys(files))
    return {node: tuple(files) for node, files in found.items() if files}


def _files(line: Line) -> list[str]:
    return [*_expanded(line, "file"), *_expanded(line, "multiplefiles")]


def _expanded(line: Line, name: str) -> list[str]:
    """Return the paths that a text such as /dev/nvidia[0-3] means."""
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


def notices(config: Path, conf: str, nodes: Sequence[str]) -> Iterator[str]:
    """Yield messages about a gres.conf that are printed before the start. Raises SimunixError with file and line."""
    path = config.parent / "gres.conf"
    found = detection(read_lines(path, GRES)) if path.is_file() else None
    if found is not None:
        told = f"{found.place}: AutoDetect={found.value(DETECT)}: answered by the Gres= of slurm.conf"
        yield f"{told}, since there are no GPUs that a library could find; hosts' gres.conf names a file for each GPU"
    for line in gres_lines(config, conf):
        yield from (f"{line.place}: {file}: {ELSEWHERE}" for file in _files(line) if not file.startswith("/dev/"))
    yield from will_drain(config, conf, nodes)


def will_drain(config: Path, conf: str, nodes: Sequence[str]) -> Iterator[str]:
    """Yield a warning for each node whose GPUs slurmd will not find; Slurm drains such a node, as it would on a real
    cluster.
    """
    counted = {node: Counter[str]() for node in nodes}
    for line in gres_lines(config, conf):
        if line.value("name") == GPU and (count := 1 if line.value("multiplefiles") else len(_expanded(line, "file"))):
            for node in _nodes(line, nodes):
                counted[node][line.value("type")] += count
    short: dict[str, list[str]] = {}
    wanted: dict[tuple[str, str], int] = {}
    for described in node_lines(text_lines(config, conf)):
        for name, (kind, count) in product(described.names, described.gpus):
            if name in counted and _there(counted[name], kind) < count:
                short.setdefault(kind, []).append(name)
                wanted[kind, name] = count
    for kind, names in short.items():
        first, of_kind = names[0], f":{kind}" if kind else ""
        kind_word = f"Type={kind} " if kind else ""
        yield (
            f"{config.parent / 'gres.conf'}: {len(names)} nodes ({first} …) have Gres=gpu{of_kind} in slurm.conf, "
            f"{wanted[kind, first]} of them on {first}, but File= names {_there(counted[first], kind)}: slurmd drains such a "
            f"node; add NodeName={first} Name=gpu {kind_word}File=/dev/nvidia[0-…]"
        )


def _there(counted: Counter[str], kind: str) -> int:
    """Return the number of GPUs of a type; for the type "", of all types."""
    return counted[kind] if kind else counted.total()
