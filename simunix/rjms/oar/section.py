"""The `oar:` section of a scenario."""

from __future__ import annotations

from simunix.rjms.adapter import ClusterSection
from simunix.scenario.section import HostList


class OarSection(ClusterSection):
    """An OAR cluster: Almighty and PostgreSQL on `controller`, OAR's own sshd on each node, and one OAR resource for
    each core.

    `scheduler` is the scheduler of the queues `default` and `besteffort`, one of those in /usr/lib/oar/schedulers. The keys of
    `configuration` are variables of /etc/oar/oar.conf, whose values they replace; null leaves a variable out. The
    hosts' root file systems contain the OAR that runs. Several clusters are a list; their names and hosts must differ.
    """

    controller: str
    nodes: HostList
    login: str | None = None
    database: str | None = None
    scheduler: str | None = None
    configuration: dict[str, str | int | None] = {}
