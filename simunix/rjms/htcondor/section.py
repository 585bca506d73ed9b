"""The `htcondor:` section of a scenario."""

from __future__ import annotations

from simunix.rjms.adapter import ClusterSection
from simunix.scenario.section import HostList


class HTCondorSection(ClusterSection):
    """An HTCondor pool: collector and negotiator on `controller`, a schedd on `login`, a startd on each node.

    `configuration` are parameters of HTCondor's configuration, which replace those that simunix and the package write.
    The hosts' root file systems contain the HTCondor that runs. Several pools are a list; their names and hosts must
    differ.
    """

    controller: str
    nodes: HostList
    login: str | None = None
    configuration: dict[str, str | int | float | bool] = {}
