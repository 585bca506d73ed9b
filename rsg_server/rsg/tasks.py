"""Parallel tasks of Remote SimGrid: flops on hosts and bytes between hosts, of which equal fractions are done at each moment.

The flow model is ptask_L07, as SimGrid has it (src/surf/ptask_L07.cpp). A task waits for the longest latency of its
routes. The fraction per second is limited: one core of each host must be able to compute its part of the flops there.
TCP's window must let through the part of each message.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rsg_server.platform.errors import NoRouteError
from rsg_server.rsg.activity import STARTED, Task
from rsg_server.rsg.errors import Code, OperationError

if TYPE_CHECKING:
    from rsg_server.platform.host import Host
    from rsg_server.platform.link import Link, Route
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.room import Rsg


def start_task(room: Rsg, who: Participant, hosts: list[Host], flops: list[float], sizes: list[float]) -> Task:
    """Begin a parallel task, and return it. `sizes` are the bytes from each host to each host, row by row, or empty."""
    if any(room.places.is_off(host) for host in hosts):
        raise OperationError(Code.HOST_FAILURE)
    cores = [(host, amount) for host, amount in zip(hosts, flops, strict=True) if amount > 0]
    if any(room.places.speed(host) <= 0 for host, _ in cores):
        raise OperationError(Code.NO_SPEED)
    uses: list[tuple[Link, float]] = [(room.places.cores.link(host), amount) for host, amount in cores]
    bounds = [room.places.cores.speed(host) / amount for host, amount in cores]
    latency_s = 0.0
    for number, size in enumerate(sizes):
        if size > 0:
            route = _route(room, hosts[number // len(hosts)], hosts[number % len(hosts)])
            uses += [(link, size) for link in route.links]
            latency_s = max(latency_s, route.latency_s)
            if route.latency_s > 0 and room.model.tcp_gamma > 0:
                bounds.append(room.model.tcp_gamma / (2 * route.latency_s * size))
    task = Task(who, hosts)
    task.state, task.start_s = STARTED, room.date_s
    who.activities[task] = None
    bound = min(bounds, default=math.inf)
    room.started(task, room.engine.task(uses, latency_s, bound if bound < math.inf else 0.0))
    return task


def _route(room: Rsg, source: Host, destination: Host) -> Route:
    try:
        return room.engine.path(source.name, destination.name)
    except NoRouteError:
        raise OperationError(Code.NO_ROUTE) from None
