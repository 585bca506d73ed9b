"""Slurm's plugin power/cray_aries: the parameters of slurm.conf, and the command `capmc`, which the plugin calls on the
controller.

The plugin regularly asks capmc for the energy of all nodes, and gives each node a cap, so that all nodes together stay
below `cap_watts`. Like Cray's nodes, emulated nodes switch to a slower power state before they exceed their cap. The
plugin knows nodes by Cray's names, nid00001 and on (src/plugins/power/cray_aries/power_cray_aries.c of Slurm 22.05).
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.platform.host import Host
from simunix.launch.plan import FileSpec
from simunix.rjms.adapter import Site
from simunix.rjms.slurm.parameters import Value
from simunix.rjms.slurm.power import guest
from simunix.rjms.slurm.power.saving import FOLDER
from simunix.rjms.slurm.section import SlurmSection

PROGRAM, PLAN = f"{FOLDER}/capmc", f"{FOLDER}/capmc.json"
NAME = re.compile(r"nid\d{5}")
KNOWN = (
    *("balance_interval", "cap_watts", "decrease_rate", "get_timeout", "increase_rate", "lower_threshold", "recent_job"),
    *("set_timeout", "set_watts", "upper_threshold"),
)
"""The numeric settings of PowerParameters in slurm.conf(5). simunix itself sets capmc_path."""
LEVELS = ("job_level", "job_no_level")


def plugin(section: SlurmSection) -> dict[str, Value]:
    """Return the parameter of slurm.conf that names the plugin; empty if the section does not use it."""
    return {} if section.capmc is None else {"PowerPlugin": "power/cray_aries"}


def parameters(section: SlurmSection, key: str, site: Site) -> dict[str, Value]:
    """Return the parameters of slurm.conf for the plugin; empty if the section does not use it. Raises SimunixError,
    beginning with the wrong key.
    """
    if section.capmc is None:
        return {}
    key = f"{key}.capmc"
    _check_words(section.capmc, key)
    taken = {name.lower() for name in section.parameters} & {"powerplugin", "powerparameters"}
    if taken:
        raise SimunixError(f"{key}: PowerPlugin and PowerParameters are those of {key}; take them out of parameters")
    _groups(section, key, site)
    return plugin(section) | {"PowerParameters": ",".join(filter(None, (f"capmc_path={PROGRAM}", section.capmc)))}


def _check_words(text: str, key: str) -> None:
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        if word not in LEVELS and (name not in KNOWN or not re.fullmatch(r"\d{1,9}[kKmM]?", value)):
            known = ", ".join((*(f"{each}=NUMBER" for each in KNOWN), *LEVELS))
            raise SimunixError(f"{key}: expected PowerParameters of slurm.conf, {known}; got {word[:60]!r}")


def _groups(section: SlurmSection, key: str, site: Site) -> list[dict[str, object]]:
    """Return the groups of nodes with equal ranges of caps: from the watts under full load in the slowest power state
    to those in the fastest.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    for name in section.nodes:
        if not NAME.fullmatch(name):
            raise SimunixError(f"{key}: node {name}: the plugin knows only nodes with names such as nid00001; rename the node")
        groups.setdefault(_range(site.hosts[name], key), []).append(int(name[3:]))
    return [{"nids": nids, "min": least, "max": most} for (least, most), nids in groups.items()]


def _range(host: Host, key: str) -> tuple[int, int]:
    if host.power is None:
        raise SimunixError(f"{key}: node {host.name} has no wattage_per_state; add its watts")
    watts = [state.full_w for state in host.power.states]
    return math.ceil(min(watts)), math.ceil(max(watts))


def files(section: SlurmSection, key: str, site: Site) -> tuple[FileSpec, ...]:
    """Return the files for the plugin on the controller host: the command capmc, and capmc's description of the nodes."""
    if section.capmc is None:
        return ()
    program = Path(guest.__file__).with_name("capmc.py").read_bytes()
    plan = json.dumps(_groups(section, f"{key}.capmc", site), indent=1)
    return FileSpec(section.controller, PROGRAM, program, mode=0o755), FileSpec(section.controller, PLAN, plan.encode())


def wires(section: SlurmSection) -> dict[str, tuple[str, ...]]:
    """Return, for the controller, the hosts whose power files it has: all nodes."""
    return {} if section.capmc is None else {section.controller: section.nodes}
