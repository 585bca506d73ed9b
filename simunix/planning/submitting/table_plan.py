"""Group the jobs of a job table that one command submits: elements of a job array, components of a heterogeneous job."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rsg_server.errors import SimunixError
from simunix.workload.job import Job
from simunix.workload.request import Request


@dataclass(frozen=True, slots=True)
class Group:
    """The jobs that one command submits. A job array is represented by its first element."""

    parts: tuple[Job, ...]
    elements: Mapping[int, Job] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        """Return the entry of plan.json for the group, without its command (simunix.workload.guest.table_submitter)."""
        request = _request(self.parts[0])
        found: dict[str, Any] = {"key": request.number}
        if len(self.parts) > 1:
            found["components"] = [job.id for job in self.parts]
        if self.elements:
            found["array"] = [job.id for job in self.elements.values()]
            found["indices"] = list(self.elements)
        if request.hold_s is not None and math.isfinite(request.hold_s):
            found["hold"] = request.hold_s
        if self.elements:
            cancelled = [(index, _request(job).cancel_s) for index, job in self.elements.items()]
            if after := [each for each in cancelled if each[1] is not None]:
                found["cancel_elements"] = after
        elif request.cancel_s is not None:
            found["cancel"] = request.cancel_s
        return found


def submissions(jobs: Sequence[Job], key: str) -> list[Group]:
    """Return the groups in the order of their first jobs. Raises SimunixError for dependencies that can never be fulfilled."""
    groups: dict[object, list[Job]] = {}
    for job in jobs:
        request = _request(job)
        if request.element is not None:
            groups.setdefault((job.submit_s, _asked(request), job.cores), []).append(job)
        elif request.component is not None:
            groups.setdefault(("components", request.number), []).append(job)
        else:
            groups.setdefault(("alone", job.id), []).append(job)
    _check_circles((_request(job) for job in jobs), key)
    return [_group(found) for found in groups.values()]


def _group(jobs: list[Job]) -> Group:
    first = _request(jobs[0])
    if first.element is not None:
        ordered = sorted(jobs, key=lambda job: _request(job).element or 0)
        return Group((ordered[0],), {_request(job).element or 0: job for job in ordered})
    return Group(tuple(sorted(jobs, key=lambda job: _request(job).component or 0)))


def _asked(request: Request) -> Request:
    """Return what all elements of a job array have in common. Elements that were changed after the submission belong to
    another submission.
    """
    return replace(request, element=None, cancel_s=None, state="", exit_code="", node_list="", steps=())


def _check_circles(requests: Iterable[Request], key: str) -> None:
    waits: dict[int, set[int]] = {}
    for request in requests:
        others = {other.number for clause in request.clauses() for other in clause.others}
        waits.setdefault(request.number, set()).update(others)
    sound: set[int] = set()
    for start in waits:
        trail: dict[int, None] = {}
        pending = [(start, False)]
        while pending:
            number, is_done = pending.pop()
            if is_done:
                sound.add(number)
                trail.pop(number, None)
                continue
            if number in sound:
                continue
            if number in trail:
                raise SimunixError(f"{key}.trace: job {number}: its dependencies form a circle; mend the table")
            trail[number] = None
            pending.append((number, True))
            pending += [(other, False) for other in waits.get(number, ())]


def _request(job: Job) -> Request:
    assert job.request is not None
    return job.request


# Run times that depend on the features of nodes


def factors_of(
    features: Mapping[str, tuple[str, ...]], nodes: Sequence[str], said: Mapping[str, float], key: str
) -> dict[str, float]:
    """Return each node's factor of run times: the product of the factors of its features. Raises SimunixError,
    beginning with `key`, for an unknown feature.
    """
    known = {feature for own in features.values() for feature in own}
    for feature in said:
        if feature not in known:
            names = ", ".join(sorted(known)) or "none"
            raise SimunixError(f"{key}.factors.{feature}: no node has this feature; known: {names}")
    return {node: math.prod(said.get(feature, 1.0) for feature in features.get(node, ())) for node in nodes}


def factor_file(factors: Mapping[str, float]) -> bytes:
    """Write the file that jobs read: a node and its factor, in thousandths, on each line."""
    return "".join(f"{node} {round(factor * 1000)}\n" for node, factor in factors.items()).encode()


def on_plain_nodes(job: Job, factors: Mapping[str, float], nodes: Sequence[str]) -> Job:
    """Return the job with the run time that it would have on nodes of factor 1. `nodes` are the nodes on which it ran
    in the trace, if all are known.
    """
    ran_on = [factors[node] for node in nodes if node in factors]
    if not ran_on or len(ran_on) != len(nodes):
        return job
    return replace(job, runtime_s=job.runtime_s / max(ran_on))
