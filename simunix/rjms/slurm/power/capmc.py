"""Slurm's plugin power/cray_aries: what slurm.conf says, and the `capmc` that the plugin calls on the controller.

The plugin asks capmc for the energy of all nodes every so often, and gives each node a cap, so that all together are below
`cap_watts`. Nodes obey as Cray's do: they go to a slower power state whenever they would draw more. It knows nodes by Cray's
names, nid00001 and on (src/plugins/power/cray_aries/power_cray_aries.c of Slurm 22.05).
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
"""Of PowerParameters in slurm.conf(5), those that have a number; capmc_path is simunix's."""
LEVELS = ("job_level", "job_no_level")


def plugin(section: SlurmSection) -> dict[str, Value]:
    """Return the parameter that names the plugin; nothing without it."""
    return {} if section.capmc is None else {"PowerPlugin": "power/cray_aries"}


def parameters(section: SlurmSection, key: str, site: Site) -> dict[str, Value]:
    """Return what slurm.conf says of the plugin; nothing without it. Raises SimunixError, led by the key that is wrong."""
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
    """Return the nodes with equal ranges of caps: from the full watts of the slowest power state to those of the
    fastest.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    for name in section.nodes:
        if not NAME.fullmatch(name):
            raise SimunixError(f"{key}: node {name}: the plugin knows nodes that are called nid00001 and on; name them so")
        groups.setdefault(_range(site.hosts[name], key), []).append(int(name[3:]))
    return [{"nids": nids, "min": least, "max": most} for (least, most), nids in groups.items()]


def _range(host: Host, key: str) -> tuple[int, int]:
    if host.power is None:
        raise SimunixError(f"{key}: node {host.name} has no wattage_per_state; say what it draws")
    watts = [state.full_w for state in host.power.states]
    return math.ceil(min(watts)), math.ceil(max(watts))


def files(section: SlurmSection, key: str, site: Site) -> tuple[FileSpec, ...]:
    """capmc and what it knows of the nodes, on the controller."""
    if section.capmc is None:
        return ()
    program = Path(guest.__file__).with_name("capmc.py").read_bytes()
    plan = json.dumps(_groups(section, f"{key}.capmc", site), indent=1)
    return FileSpec(section.controller, PROGRAM, program, mode=0o755), FileSpec(section.controller, PLAN, plan.encode())


def wires(section: SlurmSection) -> dict[str, tuple[str, ...]]:
    """Return the hosts whose power is wired to the controller: all nodes."""
    return {} if section.capmc is None else {section.controller: section.nodes}
