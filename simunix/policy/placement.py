"""Where a job fits: nodes with enough free cores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping

from simunix.policy.records import Job, Node

Cores = Mapping[str, int]
"""The number of free cores by the name of the node, in the order in which the RJMS lists nodes."""


def free_cores(nodes: Iterable[Node]) -> dict[str, int]:
    """Return the free cores of each node."""
    return {node.name: node.free for node in nodes}


def place(job: Job, free: Cores) -> dict[str, int] | None:
    """Return how many cores of which nodes a job gets; None if the job does not fit.

    A job that fits on one node gets the node with the fewest free cores among those with enough. A job that does not, or
    asks for several nodes, gets the nodes with the most free cores. Of equal nodes, the first one is taken.
    """
    if job.nodes <= 1:
        enough = [name for name, cores in free.items() if cores >= job.cores]
        if enough:
            return {min(enough, key=lambda name: free[name]): job.cores}
    chosen: list[str] = []
    total = 0
    for name in sorted((name for name, cores in free.items() if cores > 0), key=lambda name: -free[name]):
        if total >= job.cores and len(chosen) >= job.nodes:
            break
        chosen.append(name)
        total += free[name]
    if total < job.cores or len(chosen) < job.nodes or job.cores < len(chosen):
        return None
    return fill(job.cores, chosen, free)


def fill(cores: int, nodes: Iterable[str], free: Cores) -> dict[str, int]:
    """Return how many cores of each of these nodes a job gets: at least one of each, and as many as there are of the
    nodes that the RJMS lists first. Slurm divides jobs like this (`scontrol --details show job`).
    """
    chosen = set(nodes)
    shares = {name: 1 for name in free if name in chosen}
    left = cores - len(shares)
    for name in shares:
        more = min(left, max(free[name] - 1, 0))
        shares[name] += more
        left -= more
    return shares


def take(shares: Cores, free: MutableMapping[str, int]) -> None:
    """Take the cores of `shares` away from `free`."""
    for name, cores in shares.items():
        free[name] -= cores
