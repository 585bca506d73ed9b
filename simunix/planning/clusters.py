"""Plans the clusters that the sections of a scenario describe."""

from __future__ import annotations

from dataclasses import replace

from rsg_server.errors import SimunixError
from simunix.rjms.adapter import ClusterPlan, Site
from simunix.rjms.scenario import cluster_sections
from simunix.scenario.model import Scenario


def plan_clusters(scenario: Scenario, site: Site) -> tuple[ClusterPlan, ...]:
    """Plan all clusters. Clusters share the network and nothing else: a host belongs to at most one of them."""
    owner: dict[str, str] = {}
    plans: list[ClusterPlan] = []
    for key, rjms, section in cluster_sections(scenario):
        if any(plan.name == section.cluster for plan in plans):
            raise SimunixError(f"{key}.cluster: {section.cluster!r} is another cluster's name already; names must differ")
        plan = rjms.plan(section, key, site)
        _check_speeds(plan, key, site)
        for name in plan.private:
            if name in owner:
                raise SimunixError(
                    f"{key}: host {name} belongs to cluster {owner[name]!r} already; a host has one {rjms.title}"
                )
            owner[name] = plan.name
        plans.append(_with_cpu_policy(plan, section.cpu_policy))
    return tuple(plans)


def _check_speeds(plan: ClusterPlan, key: str, site: Site) -> None:
    """Raise SimunixError for a node whose speed in the platform file is 0, since jobs that compute there would never
    end.
    """
    for name in plan.nodes:
        if site.hosts[name].speed_flops <= 0:
            text = f"host {name} has speed 0 in the platform file, so that nothing can compute there"
            raise SimunixError(f"{key}.nodes: {text}; give it a speed above 0, or take it out of the nodes")


def _with_cpu_policy(plan: ClusterPlan, policy: str | None) -> ClusterPlan:
    """Return the plan with this CPU policy for the daemons of the cluster, and thereby for jobs. Clients such as sbatch
    have the policy of their host.
    """
    if policy is None:
        return plan
    return replace(plan, processes=tuple(replace(process, cpu_policy=policy) for process in plan.processes))
