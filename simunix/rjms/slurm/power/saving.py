"""Slurm's own power saving: the parameters of slurm.conf, and the two scripts with which Slurm switches nodes off and
on.
"""

from __future__ import annotations

from rsg_server.errors import SimunixError
from simunix.launch.factory.factory import LIBRARY
from simunix.launch.plan import FileSpec
from simunix.ranges import fold_hosts
from simunix.rjms.slurm.parameters import Value
from simunix.rjms.slurm.power.sections import PowerSavingSection
from simunix.rjms.slurm.section import SlurmSection

FOLDER = "/etc/slurm"
SUSPEND, RESUME, MACHINES = f"{FOLDER}/suspend", f"{FOLDER}/resume", f"{FOLDER}/simunix-job"
NEVER_S = 365 * 86400
"""The value of SuspendTime that means "never" in practice: no node is idle for so long. INFINITE would switch power
saving off.
"""
NS = 10**9
SCRIPT = """#!/bin/sh
# {program} of slurm.conf(5), written by simunix: Slurm names the nodes, the machine room {does}.
exec {machines} machines {word} $(scontrol show hostnames "$1")
"""


def parameters(section: SlurmSection, key: str) -> dict[str, Value]:
    """Return the parameters of slurm.conf for power saving; empty if the section does not use it. Raises SimunixError,
    beginning with `key`.
    """
    saving = section.power_saving
    if saving is None:
        return {}
    _check(section, saving, key)
    found: dict[str, Value] = {
        "SuspendProgram": SUSPEND,
        "ResumeProgram": RESUME,
        "SuspendTime": NEVER_S if saving.suspend_time is None else saving.suspend_time // NS,
        "SuspendTimeout": saving.suspend_timeout // NS,
        "ResumeTimeout": saving.resume_timeout // NS,
        "SuspendRate": saving.suspend_rate,
        "ResumeRate": saving.resume_rate,
    }
    if saving.exclude:
        found["SuspendExcNodes"] = fold_hosts(saving.exclude)
    return found


def _check(section: SlurmSection, saving: PowerSavingSection, key: str) -> None:
    for name in ("suspend_time", "suspend_timeout", "resume_timeout"):
        value = getattr(saving, name)
        if value is not None and (value < NS or value % NS):
            raise SimunixError(f"{key}.power_saving.{name}: Slurm counts whole seconds, 1 at least; write such as '60s'")
    unknown = [name for name in saving.exclude if name not in section.nodes]
    if unknown:
        raise SimunixError(f"{key}.power_saving.exclude: {unknown[0]} is not among the nodes; take it away")
    for host in (section.controller, section.login):
        if host in section.nodes and host not in saving.exclude:
            raise SimunixError(f"{key}.power_saving: {host} is a node and has {key}'s daemons or users; name it in exclude")


def files(section: SlurmSection) -> tuple[FileSpec, ...]:
    """Return the files on the controller: the two scripts, and the program that they run."""
    if section.power_saving is None:
        return ()
    host = section.controller
    suspend = SCRIPT.format(program="SuspendProgram", does="shuts them down", machines=MACHINES, word="shutdown")
    resume = SCRIPT.format(program="ResumeProgram", does="boots them", machines=MACHINES, word="on")
    return (
        FileSpec(host, SUSPEND, suspend.encode(), mode=0o755),
        FileSpec(host, RESUME, resume.encode(), mode=0o755),
        FileSpec(host, MACHINES, (LIBRARY / "simunix-job").read_bytes(), mode=0o755),
    )
