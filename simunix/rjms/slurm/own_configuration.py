"""Read a user's own slurm.conf: its settings, the folders that it names, and whether its nodes are the scenario's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.plan import PrivateSpec
from simunix.rjms.slurm.configuration import CONFIG
from simunix.rjms.slurm.files.lines import Line, after_first, flattened, read_lines, text_lines
from simunix.rjms.slurm.files.nodes import node_lines
from simunix.rjms.slurm.parameters import OF_MANY
from simunix.rjms.slurm.section import SlurmSection

WHAT = "a slurm.conf"
_DIRECTORIES = ("StateSaveLocation", "SlurmdSpoolDir")
_FILES = ("SlurmctldLogFile", "SlurmdLogFile", "JobCompLoc", "SlurmSchedLogFile", "SlurmctldPidFile", "SlurmdPidFile")


def parameters_of(lines: Iterable[Line]) -> Iterator[tuple[Line, str, str]]:
    """Yield line, name and value of each parameter. Raises SimunixError for a line with two parameters, since Slurm
    reads neither of them.
    """
    for line in lines:
        if line.first in OF_MANY:
            continue
        if more := after_first(line.text):
            raise SimunixError(f"{line.place}: {more!r:.60}: Slurm reads one parameter of a line; give it a line of its own")
        yield (line, *next(iter(line.pairs.values())))


def read_settings(text: str, path: Path = Path(CONFIG)) -> dict[str, str]:
    """Return the parameters in the text of a slurm.conf by lower-case name; the last one of a name counts. Raises
    SimunixError with file and line.
    """
    return {name.lower(): value for _, name, value in parameters_of(text_lines(path, text))}


def features_of(text: str, path: Path = Path(CONFIG)) -> dict[str, tuple[str, ...]]:
    """Return the features of each node that has features, from the NodeName lines of a slurm.conf."""
    return {name: node.features for node in node_lines(text_lines(path, text)) for name in node.names if node.features}


def slurm_user(text: str) -> str:
    """Return the user as whom slurmctld runs, by a slurm.conf; the default is root."""
    return read_settings(text).get("slurmuser", "root")


def read_configuration(path: Path) -> str:
    """Return the text of a user's slurm.conf, with the texts of included files. Raises SimunixError if a file cannot be
    read.
    """
    try:
        return flattened(path, "a slurm.conf") if "nclude" in path.read_text() else path.read_text()
    except OSError as error:
        raise SimunixError(f"slurm.config: {path}: {error.strerror}; give a slurm.conf") from error
    except UnicodeDecodeError as error:
        raise SimunixError(f"slurm.config: {path}: not a text in UTF-8 (byte {error.start}); give a slurm.conf") from error


def given_configuration(section: SlurmSection, path: Path, text: str) -> tuple[str, dict[str, tuple[PrivateSpec, ...]], str]:
    """Return three things: the user's slurm.conf unchanged, the folders that it names as private paths of each host,
    and the path of the jobcomp file.
    """
    settings = read_settings(text, path)
    _check_names(section, path)
    folders = {settings[key.lower()] for key in _DIRECTORIES if key.lower() in settings}
    folders |= {str(Path(settings[key.lower()]).parent) for key in _FILES if settings.get(key.lower(), "").startswith("/")}
    specs = tuple(PrivateSpec(folder, slurm_user(text)) for folder in sorted(folders) if not folder.startswith("/run"))
    members = dict.fromkeys([section.controller, section.login or section.controller, *section.nodes])
    keeps = settings.get("jobcomptype", "").removeprefix("jobcomp/") == "filetxt"
    return text, dict.fromkeys(members, specs), settings.get("jobcomploc", "") if keeps else ""


def _check_names(section: SlurmSection, path: Path) -> None:
    """Raise SimunixError for a node of the section that slurm.conf does not name, since its daemon would refuse to
    start.
    """
    named = {name for node in node_lines(read_lines(path, WHAT)) for name in node.names}
    unknown = [name for name in section.nodes if name not in named]
    if unknown:
        raise SimunixError(f"slurm.nodes: {unknown[0]} has no NodeName in {path}; make the two agree")
