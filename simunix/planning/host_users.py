"""Make the users of traces known on the emulated hosts: the content of /etc/passwd and /etc/group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simunix.rjms.adapter import ClusterPlan
from simunix.roots.tree import RootTree
from simunix.workload.population import Population, etc_files


def etc_of_hosts(
    host_users: Population, clusters: Sequence[ClusterPlan], roots: Mapping[str, RootTree]
) -> dict[str, dict[str, bytes]]:
    """Return the files of /etc for each host of a cluster; empty if no trace has users."""
    if not host_users.users:
        return {}
    by_root: dict[RootTree, dict[str, bytes]] = {}
    found = {}
    for cluster in clusters:
        for host in cluster.private:
            root = roots[host]
            if root not in by_root:
                by_root[root] = etc_files(host_users, _text(root, "/etc/passwd"), _text(root, "/etc/group"))
            found[host] = by_root[root]
    return found


def _text(root: RootTree, name: str) -> str:
    return root.locate(name).read_text(errors="replace") if root.has(name) else ""
