"""Max-min fair sharing by progressive filling (Bertsekas, Gallager: Data Networks, 6.5.2): a pure function."""

from __future__ import annotations

from collections.abc import Sequence

from rsg_server.platform.link import Link, SharingPolicy


def share(routes: Sequence[Sequence[Link]]) -> list[float]:
    """Rates in bytes per second for flows with these routes, in the order given.

    No shared link carries more than its bandwidth, and every flow has a link that is full and on which nobody has more, or is
    held back by a fat pipe's bandwidth. A flow without links gets infinity. The result depends on the routes only.
    """
    rates = [float("inf")] * len(routes)
    bounds = [
        min((link.bandwidth_bytes_per_s for link in route if link.policy is SharingPolicy.FATPIPE), default=float("inf"))
        for route in routes
    ]
    users: dict[str, list[int]] = {}
    left: dict[str, float] = {}
    for flow, route in enumerate(routes):
        for link in route:
            if link.policy is SharingPolicy.SHARED and flow not in users.setdefault(link.name, []):
                users[link.name].append(flow)
                left[link.name] = link.bandwidth_bytes_per_s
    waiting = [flow for flow, route in enumerate(routes) if route]
    while waiting:
        level = min((left[name] / len(flows) for name, flows in users.items() if flows), default=float("inf"))
        bound = min(bounds[flow] for flow in waiting)
        if bound <= level:
            fixed = [flow for flow in waiting if bounds[flow] == bound]
            level = bound
        else:
            full = next(name for name, flows in users.items() if flows and left[name] / len(flows) == level)
            fixed = list(users[full])
        for flow in fixed:
            rates[flow] = level
            _take_out(flow, level, users, left)
        waiting = [flow for flow in waiting if flow not in fixed]
    return rates


def _take_out(flow: int, rate: float, users: dict[str, list[int]], left: dict[str, float]) -> None:
    for name, flows in users.items():
        if flow in flows:
            flows.remove(flow)
            left[name] = max(left[name] - rate, 0.0)
