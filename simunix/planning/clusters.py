"""From the sections of a scenario that describe clusters to what each cluster adds to the plan."""

from __future__ import annotations

from rsg_server.errors import SimunixError
from simunix.rjms.adapter import ClusterPlan, Site
from simunix.rjms.scenario import cluster_sections
from simunix.scenario.model import Scenario


def plan_clusters(scenario: Scenario, site: Site) -> tuple[ClusterPlan, ...]:
    """Clusters share the network and nothing else: a host belongs to one at most."""
    owner: dict[str, str] = {}
    plans: list[ClusterPlan] = []
    for key, rjms, section in cluster_sections(scenario):
        if any(plan.name == section.cluster for plan in plans):
            raise SimunixError(f"{key}.cluster: {section.cluster!r} is another cluster's name already; names must differ")
        plan = rjms.plan(section, key, site)
        for name in plan.private:
            if name in owner:
                raise SimunixError(
                    f"{key}: host {name} belongs to cluster {owner[name]!r} already; a host has one {rjms.title}"
                )
            owner[name] = plan.name
        plans.append(plan)
    return tuple(plans)
