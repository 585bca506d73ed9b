"""A user's own slurm.conf: its settings, the folders that it names, and whether its nodes are the scenario's."""

from __future__ import annotations

import re
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.plan import PrivateSpec
from simunix.ranges import expand_hosts
from simunix.rjms.slurm.lines import flattened
from simunix.rjms.slurm.section import SlurmSection

_DIRECTORIES = ("StateSaveLocation", "SlurmdSpoolDir")
_NODE = re.compile(r"\s*NodeName=(\S+)", re.IGNORECASE)
_FEATURES = re.compile(r"\bFeatures?=(\S+)", re.IGNORECASE)
_FILES = ("SlurmctldLogFile", "SlurmdLogFile", "JobCompLoc", "SlurmSchedLogFile", "SlurmctldPidFile", "SlurmdPidFile")


def read_settings(text: str) -> dict[str, str]:
    """Simple `Key=Value` settings of a slurm.conf (keys in lower case), the last one counting."""
    joined = re.sub(r"\\\n", " ", text)
    settings = {}
    for line in joined.splitlines():
        key, equals, value = line.split("#", 1)[0].strip().partition("=")
        if equals:
            settings[key.strip().lower()] = value.strip()
    return settings


def features_of(text: str) -> dict[str, tuple[str, ...]]:
    """The features of each node that has any, by the NodeName lines of a slurm.conf."""
    found: dict[str, tuple[str, ...]] = {}
    for line in re.sub(r"\\\n", " ", text).splitlines():
        node, feature = _NODE.match(line), _FEATURES.search(line.split("#", 1)[0])
        if node and feature and node[1].upper() != "DEFAULT":
            names = tuple(name for name in feature[1].strip('"').split(",") if name)
            found.update(dict.fromkeys(expand_hosts(node[1]), names))
    return found


def slurm_user(text: str) -> str:
    """The user that slurmctld runs as, by a slurm.conf: root unless it says otherwise."""
    return read_settings(text).get("slurmuser", "root")


def read_configuration(path: Path) -> str:
    """The text of a user's slurm.conf, with the text of what it includes. Raises SimunixError."""
    try:
        return flattened(path, "a slurm.conf") if "nclude" in path.read_text() else path.read_text()
    except OSError as error:
        raise SimunixError(f"slurm.config: {path}: {error.strerror}; give a slurm.conf") from error
    except UnicodeDecodeError as error:
        raise SimunixError(f"slurm.config: {path}: not a text in UTF-8 (byte {error.start}); give a slurm.conf") from error


def given_configuration(section: SlurmSection, path: Path, text: str) -> tuple[str, dict[str, tuple[PrivateSpec, ...]], str]:
    """The user's slurm.conf as it is, the folders that it names as private paths of each host, and the path of jobcomp."""
    settings = read_settings(text)
    _check_names(section, text, path)
    folders = {settings[key.lower()] for key in _DIRECTORIES if key.lower() in settings}
    folders |= {str(Path(settings[key.lower()]).parent) for key in _FILES if settings.get(key.lower(), "").startswith("/")}
    specs = tuple(PrivateSpec(folder, slurm_user(text)) for folder in sorted(folders) if not folder.startswith("/run"))
    members = dict.fromkeys([section.controller, section.login or section.controller, *section.nodes])
    keeps = settings.get("jobcomptype", "").removeprefix("jobcomp/") == "filetxt"
    return text, dict.fromkeys(members, specs), settings.get("jobcomploc", "") if keeps else ""


def _check_names(section: SlurmSection, text: str, path: Path) -> None:
    """Raise SimunixError for a node that slurm.conf does not name: its daemon would refuse to start."""
    named = set()
    for found in re.finditer(r"^\s*NodeName=(\S+)", text, re.MULTILINE | re.IGNORECASE):
        if found[1].upper() == "DEFAULT":
            continue
        try:
            named.update(expand_hosts(found[1]))
        except ValueError as error:
            line = 1 + text.count("\n", 0, found.start(1))
            raise SimunixError(f"slurm.config: {path}:{line}: NodeName: {error}") from error
    unknown = [name for name in section.nodes if name not in named]
    if unknown:
        raise SimunixError(f"slurm.nodes: {unknown[0]} has no NodeName in {path}; make the two agree")
