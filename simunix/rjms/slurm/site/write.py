"""Write the folder of a scenario made from a site's files, with a list of all differences from the site."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from rsg_server.errors import SimunixError
from rsg_server.whole_files import write_whole
from simunix.ranges import fold_hosts
from simunix.rjms.slurm.files.lines import file_text, read_lines
from simunix.rjms.slurm.installed import Setting, installed
from simunix.rjms.slurm.site.accounts import account_commands, qos_commands
from simunix.rjms.slurm.site.anonymous import SCRIPTS, anonymous_lines
from simunix.rjms.slurm.site.cgroups import cgroup_text
from simunix.rjms.slurm.site.changes import GATHERED, NOT_RUN, OWN_FOLDERS, SCRIPT, SUBMIT_SCRIPT, Change
from simunix.rjms.slurm.site.conf import SiteConf, host_sections, read_conf
from simunix.rjms.slurm.site.fair_share import usage_of
from simunix.rjms.slurm.site.gres import gres_text
from simunix.rjms.slurm.site.names import Names
from simunix.rjms.slurm.site.read_back import read_back
from simunix.rjms.slurm.site.reservations import FIRST_JOB_S, START_S, reservation_commands
from simunix.rjms.slurm.site.sacct_jobs import read_jobs
from simunix.roots.tree import THIS_COMPUTER
from simunix.workload.formats.swf import SwfTrace

ALWAYS = (Change("fair-share", "usage so far", "begins at zero; --usage has it"),)
REFUSED = "kept, but the run would be refused"
NOT_READ = {
    "plugstack.conf": "SPANK plugins of the site are not installed",
    "slurmdbd.conf": "the scenario has a slurmdbd of its own",
    SUBMIT_SCRIPT: SCRIPT,
    "cli_filter.lua": NOT_RUN,
    "acct_gather.conf": GATHERED,
    "job_container.conf": OWN_FOLDERS,
}


@dataclass(frozen=True, slots=True)
class SiteFiles:
    """The files of a site. Files beside `conf` (slurm.conf) are found by their names; scripts are used only if the user
    wants that.
    """

    conf: Path
    accounts: Path | None = None
    qos: Path | None = None
    jobs: Path | None = None
    reservations: Path | None = None
    usage: Path | None = None
    scripts: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import: the numbers of nodes and jobs in the scenario, and the differences from the site."""

    nodes: int
    jobs: int
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Site:
    """The content read from a site's files; `beside` has the texts of files that are copied."""

    conf: SiteConf
    commands: list[str]
    usage: Mapping[str, Mapping[str, float]]
    trace: SwfTrace | None
    reservations: list[str]
    beside: Mapping[str, str]
    changes: tuple[Change, ...]


def import_site(files: SiteFiles, folder: Path, names: Names | None = None) -> Imported:
    """Write scenario.yaml, the files that it needs, and changes.txt into a new folder. Raises SimunixError with the
    file and line of an error.

    If `names` are given, the written files contain no name of the site. The site's files are then read three times:
    error messages must use the site's own names, and whether a feature is a name of the site is known only after all
    names are.
    """
    if names is not None:
        _read(files, None)
        _read(files, names)
    site = _read(files, names)
    _write(site, folder)
    nodes = sum(len(node.names) for node in site.conf.nodes)
    return Imported(nodes, 0 if site.trace is None else len(site.trace.jobs), site.changes)


def _read(files: SiteFiles, names: Names | None) -> _Site:
    conf = read_conf(files.conf, files.scripts and names is None, names)
    changes = conf.changes
    changes += not_installed(conf.kept)
    if files.scripts and names is not None:
        changes.append(SCRIPTS)
    commands = [] if files.qos is None else qos_commands(files.qos, changes, names)
    commands += [] if files.accounts is None else account_commands(files.accounts, changes, names)
    if (commands or files.usage) and not conf.database:
        raise SimunixError(
            f"{files.conf}: AccountingStorageType is not slurmdbd, which accounts and usage need; leave them out"
        )
    usage = {} if files.usage is None else usage_of(files.usage, commands, changes, names)
    trace = None if files.jobs is None else read_jobs(files.jobs, changes, names)
    reservations = _reservations(files, trace, conf, names)
    beside = dict(_beside(files.conf.parent, conf, names))
    changes += [
        Change(str(files.conf.parent / name), name, f"left out: {why}")
        for name, why in NOT_READ.items()
        if (files.conf.parent / name).exists() and files.conf.parent / name not in conf.scripts
    ]
    told = (*changes, *(ALWAYS if files.usage is None else ()))
    return _Site(
        conf=conf,
        commands=commands,
        usage=usage,
        trace=trace,
        reservations=reservations,
        beside=beside,
        changes=told if names is None else tuple(_without_paths(told, files)),
    )


def not_installed(kept: Sequence[Setting]) -> Iterator[Change]:
    """Yield the kept settings that the Slurm of this computer, if installed, does not know."""
    here = installed(THIS_COMPUTER)
    for setting, reason in here.refusals(kept) if here is not None else ():
        yield Change(setting.place, f"{setting.name}={setting.value}", f"{REFUSED}: {reason}")


def _beside(folder: Path, conf: SiteConf, names: Names | None) -> Iterator[tuple[str, str]]:
    """Yield the files that the import copies from the folder of the site's slurm.conf, with their texts."""
    if (gres := folder / "gres.conf").is_file():
        yield gres.name, gres_text(gres, conf, names)
    if (cgroups := folder / "cgroup.conf").is_file():
        yield cgroups.name, cgroup_text(cgroups, conf.changes)
    if (topology := folder / "topology.conf").is_file():
        read = read_lines(topology, "a topology.conf")
        lines = read if names is None else anonymous_lines(read, names, conf.changes, topology.name)
        yield topology.name, file_text(conf.references.topology(lines))


def _without_paths(changes: Iterable[Change], files: SiteFiles) -> Iterator[Change]:
    """Yield the changes with places that say which kind of file it is, but not how the site calls the file."""
    roles = {"accounts": files.accounts, "qos": files.qos, "sacct": files.jobs, "reservations": files.reservations}
    roles["usage"] = files.usage
    known = {str(path): role for role, path in roles.items() if path is not None}
    for change in changes:
        path, colon, line = change.place.rpartition(":")
        if change.place in known:
            yield replace(change, place=known[change.place])
        elif path in known:
            yield replace(change, place=f"{known[path]}{colon}{line}")
        else:
            reason = f"left out: {NOT_RUN}" if change.reason.endswith(SCRIPT) else change.reason
            yield replace(change, place=Path(change.place).name, reason=reason)


def _write(site: _Site, folder: Path) -> None:
    """Write the folder and read it back. If a run could not read it, remove the folder again. Raises SimunixError."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError as error:
        raise SimunixError(f"{folder}: there already; choose a folder that does not exist") from error
    except OSError as error:
        raise SimunixError(f"{folder}: {error.strerror}; choose a folder that can be made") from error
    try:
        _write_files(site, folder)
        read_back(folder)
    except BaseException:
        shutil.rmtree(folder)
        raise


def _write_files(site: _Site, folder: Path) -> None:
    write_whole(folder / "slurm.conf", site.conf.text)
    for name, text in site.beside.items():
        write_whole(folder / name, text)
    for script in site.conf.scripts:
        shutil.copy(script, folder)  # the copy has the mode of the script
    scenario = scenario_text(site.conf, site.commands, site.reservations, site.trace is not None, site.usage)
    write_whole(folder / "scenario.yaml", scenario)
    write_whole(folder / "changes.txt", changes_text(site.changes))
    if site.trace is not None:
        from simunix.workload.formats.job_table import write_job_table

        write_job_table(folder / "jobs.csv", site.trace)


def _reservations(files: SiteFiles, trace: SwfTrace | None, conf: SiteConf, names: Names | None) -> list[str]:
    """Return the commands for reservations, whose times are relative to the first job; [] if the scenario has no jobs."""
    if files.reservations is None:
        conf.changes.append(Change("reservations", "those of the site", "not given; --reservations has them"))
        return []
    first = None if trace is None else trace.number("UnixStartTime")
    if first is None:
        raise SimunixError(
            f"{files.reservations}: the times of reservations are counted from the first job: give --sacct as well"
        )
    return reservation_commands(files.reservations, first, conf.changes, names, conf.references.there)


def scenario_text(
    conf: SiteConf,
    commands: Sequence[str],
    reservations: Sequence[str],
    has_jobs: bool,
    usage: Mapping[str, Mapping[str, float]],
) -> str:
    """Return the text of the scenario, in YAML."""
    names = [name for node in conf.nodes for name in node.names]
    services = [conf.controller, *(["slurmdbd"] if conf.database else [])]
    hosts: list[dict[str, object]] = [{"name": name, "cores": 8, "memory": "16GiB"} for name in services if name not in names]
    hosts += [{**entry, "name": fold_hosts(entry["name"])} for entry in host_sections(conf)]  # type: ignore[arg-type]
    section: dict[str, Any] = {"cluster": conf.cluster, "controller": conf.controller, "nodes": fold_hosts(names)}
    section["config"] = "slurm.conf"
    if conf.database:
        section |= {"accounting_storage_type": "slurmdbd", "accounting_storage_host": "slurmdbd"}
    early, late = divided(commands)
    section |= {"sacctmgr": early} if early else {}
    section |= {"usage": usage} if usage else {}
    scenario: dict[str, Any] = {"name": conf.cluster, "hosts": hosts, "slurm": section}
    after = {"limits": [f"sacctmgr --immediate {each}" for each in late], "reservations": list(reservations)}
    processes = [
        {"name": name, "host": conf.controller, "start": f"{START_S}s", "command": " && ".join(lines)}
        for name, lines in after.items()
        if lines
    ]
    scenario |= {"processes": processes} if processes else {}
    if has_jobs:
        scenario |= {"workload": {"trace": "jobs.csv", "users": "trace", "start": f"{FIRST_JOB_S}s"}, "stop": "workload"}
    return yaml.safe_dump(scenario, sort_keys=False, width=1000)


def divided(commands: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the sacctmgr commands that run before slurmctld starts, and those that run afterwards: the database knows
    gres/gpu only after slurmctld has registered it.
    """
    early, late = [], []
    for command in commands:
        words = shlex.split(command)
        of_gres = [word for word in words if "gres/" in word]
        if not of_gres:
            early.append(command)
        elif words[0] == "modify":
            late.append(command)
        else:
            early.append(shlex.join(word for word in words if word not in of_gres))
            kind, name = words[1:3]
            where = [f"name={name}", *(word for word in words if kind == "user" and word.startswith("Account="))]
            late.append(shlex.join(["modify", kind, "where", *where, "set", *of_gres]))
    return early, late


def changes_text(changes: Sequence[Change]) -> str:
    """Return a line for each change: its place, the text, the reason."""
    return "".join(f"{each.place}: {each.what}: {each.reason}\n" for each in changes)
