"""The `gridengine:` section of a scenario."""

from __future__ import annotations

from simunix.rjms.adapter import ClusterSection
from simunix.scenario.section import HostList


class GridEngineSection(ClusterSection):
    """A Grid Engine cluster: sge_qmaster on `controller`, sge_execd on each node, and one cluster queue over all nodes.

    `scheduler` replaces parameters of sched_conf(5), `configuration` those of sge_conf(5), by their names there. The
    hosts' root file systems contain the Grid Engine that runs. Several clusters are a list; their names and hosts must
    differ.
    """

    controller: str
    nodes: HostList
    login: str | None = None
    queue: str = "all.q"
    scheduler: dict[str, str | int | float] = {}
    configuration: dict[str, str | int] = {}
