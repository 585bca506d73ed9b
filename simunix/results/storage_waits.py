"""Measure how long each job waited for storages: the column `io_time` of jobs.csv.

The process of a job has the job's number in an environment variable of the RJMS (`Clients.number_variable`).
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
    """Return the counter of the time for which jobs wait for storages; None if no host has a storage."""
    if not any(host.disks for host in platform.hosts):
        return None
    groups = {node: cluster.login for cluster in clusters for node in cluster.nodes}
    return StorageWaits(groups, {cluster.login: cluster.rjms.clients.number_variable for cluster in clusters})


def io_times(kernel: Kernel, cluster: ClusterPlan) -> dict[int, float] | None:
    """Return the seconds for which each job waited for storages, by the RJMS's number of the job.

    Return None if there are no storages, or if this RJMS does not tell a job its number.
    """
    if not kernel.storage_waits.counts or not cluster.rjms.clients.number_variable:
        return None
    totals = kernel.storage_waits.totals(kernel.now_ns)
    return {int(value): ns / NS for (group, value), ns in totals.items() if group == cluster.login and value.isdecimal()}
