"""Measures how long each job has waited for storages: the column `io_time` of jobs.csv.

A process knows the number of its job by an environment variable of the RJMS (`Clients.number_variable`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rsg_server.storage.waits import StorageWaits

if TYPE_CHECKING:
    from rsg_server.kernel import Kernel
    from rsg_server.platform.platform import Platform
    from simunix.rjms.adapter import ClusterPlan

NS = 10**9


def counted(platform: Platform, clusters: Sequence[ClusterPlan]) -> StorageWaits | None:
    """Make the counter of the waits of a run's jobs; None if no host has a storage."""
    if not any(host.disks for host in platform.hosts):
        return None
    groups = {node: cluster.login for cluster in clusters for node in cluster.nodes}
    return StorageWaits(groups, {cluster.login: cluster.rjms.clients.number_variable for cluster in clusters})


def io_times(kernel: Kernel, cluster: ClusterPlan) -> dict[int, float] | None:
    """Return the seconds of waiting, by the RJMS's number of a job.

    None if there are no storages, or jobs of this RJMS do not know their number.
    """
    if not kernel.storage_waits.counts or not cluster.rjms.clients.number_variable:
        return None
    totals = kernel.storage_waits.totals(kernel.now_ns)
    return {int(value): ns / NS for (group, value), ns in totals.items() if group == cluster.login and value.isdecimal()}
