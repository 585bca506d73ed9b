"""From the `slurm:` section, one cluster or a list of them, to what each adds to the plan."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.platform.host import Host
from simunix.launch.view.hardware import Hardware
from simunix.rjms.slurm.adapter import SlurmPlan, plan_slurm
from simunix.roots.tree import RootTree
from simunix.scenario.model import Scenario


def plan_clusters(
    scenario: Scenario,
    folder: Path,
    hosts: Mapping[str, Host],
    hardware: Mapping[str, Hardware],
    roots: Mapping[str, RootTree],
) -> tuple[SlurmPlan, ...]:
    """Clusters share the network and nothing else: a host belongs to one at most."""
    sections = scenario.slurm or []
    owner: dict[str, str] = {}
    plans: list[SlurmPlan] = []
    for index, section in enumerate(sections):
        key = "slurm" if len(sections) == 1 else f"slurm[{index}]"
        if any(plan.name == section.cluster for plan in plans):
            raise SimunixError(f"{key}.cluster: {section.cluster!r} is another cluster's name already; names must differ")
        if section.config is not None:
            section = section.model_copy(update={"config": folder / section.config})
        plan = plan_slurm(section, key, hosts, hardware, roots, scenario.seed, os.geteuid() == 0)
        for name in plan.private:
            if name in owner:
                raise SimunixError(f"{key}: host {name} belongs to cluster {owner[name]!r} already; a host has one Slurm")
            owner[name] = plan.name
        plans.append(plan)
    return tuple(plans)
