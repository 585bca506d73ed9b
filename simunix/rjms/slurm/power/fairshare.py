"""Fair-share by energy: the parameters of slurm.conf, and the program beside slurmctld that sets the priorities of
jobs.

Slurm's own billing cannot charge joules, because it does not know the energy of a running job. So the program reads the
joules of ended jobs from the accounting, and changes the priorities of pending jobs
(`simunix.rjms.slurm.power.guest.energy_fairshare`).
"""

from __future__ import annotations

import json
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.plan import FileSpec, ProcessSpec
from simunix.rjms.adapter import Site
from simunix.rjms.slurm.own_configuration import read_settings
from simunix.rjms.slurm.parameters import Value, with_parameters
from simunix.rjms.slurm.power import guest
from simunix.rjms.slurm.power.saving import FOLDER, NS
from simunix.rjms.slurm.section import SlurmSection

PROGRAM, PLAN = f"{FOLDER}/energy_fairshare.py", f"{FOLDER}/energy_fairshare.json"
START_NS = 4 * NS
MULTIFACTOR = "priority/multifactor"
PATIENCE_S = 300
METERS: dict[str, Value] = {
    "AcctGatherEnergyType": "acct_gather_energy/pm_counters",
    "AcctGatherNodeFreq": 30,
    "JobAcctGatherType": "jobacct_gather/linux",
    "JobAcctGatherFrequency": "task=30,energy=30",
    "AccountingStorageTRES": "energy",
}
"""The parameters with which slurmd measures the joules of jobs, if slurm.conf has no others."""
CLASSIC: dict[str, Value] = {"PriorityType": MULTIFACTOR, "PriorityFlags": "NO_FAIR_TREE"}
"""The parameters of the classic fair-share. Under Fair Tree, factors are ranks, from which usage cannot be computed."""


def parameters(section: SlurmSection, conf: str, key: str, site: Site) -> dict[str, Value]:
    """Return the parameters that a slurm.conf lacks for fair-share by energy; empty if the section does not use it.
    Raises SimunixError, beginning with the wrong key.
    """
    if section.energy_fairshare is None:
        return {}
    key = f"{key}.energy_fairshare"
    settings = read_settings(with_parameters(conf, section.parameters, key))
    if section.energy_fairshare.interval < NS:
        raise SimunixError(f"{key}.interval: expected 1 s at least, since Slurm counts whole seconds; give more")
    if section.accounting_storage_type == "none" and "slurmdbd" not in settings.get("accountingstoragetype", ""):
        raise SimunixError(f"{key}: joules of jobs are in slurmdbd; add accounting_storage_type: slurmdbd")
    if not site.is_root:
        raise SimunixError(f"{key}: hosts have meters, and users of their own, only if simunix runs as root; run it as root")
    meterless = [name for name in section.nodes if site.hosts[name].power is None]
    if meterless:
        raise SimunixError(f"{key}: node {meterless[0]} has no wattage_per_state; add its watts")
    if settings.get("prioritytype", MULTIFACTOR) != MULTIFACTOR:
        raise SimunixError(f"{key}: PriorityType={settings['prioritytype']} knows no priorities of jobs; take {MULTIFACTOR}")
    given = settings if section.config is not None else {name.lower() for name in section.parameters}
    return {name: value for name, value in (METERS | CLASSIC).items() if name.lower() not in given}


def files(section: SlurmSection) -> tuple[FileSpec, ...]:
    """Return the files of the program on the controller: the program and its plan."""
    wanted = section.energy_fairshare
    if wanted is None:
        return ()
    plan = {"policy": wanted.policy, "weight": wanted.weight, "interval": wanted.interval / NS, "patience": PATIENCE_S}
    return (
        FileSpec(section.controller, PROGRAM, Path(guest.__file__).with_name("energy_fairshare.py").read_bytes()),
        FileSpec(section.controller, PLAN, json.dumps(plan, indent=1).encode()),
    )


def processes(section: SlurmSection) -> tuple[ProcessSpec, ...]:
    """Return the process of the program, which never ends."""
    if section.energy_fairshare is None:
        return ()
    argv = ("/usr/bin/python3", PROGRAM, PLAN)
    return (ProcessSpec("energy-fairshare", section.controller, argv, START_NS, serves=True),)
