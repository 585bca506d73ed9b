"""Write a run in the Trace Event Format for Perfetto and chrome://tracing: a process per host, in virtual time.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsChNKySU (Trace Event Format). Each host has lanes
of jobs and lanes of processes, from start to end. Connections are slices with an arrow (flow) from client to server.
All other events are instants.
"""

from __future__ import annotations

import gzip
import heapq
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_path
from simunix.ranges import expand_hosts
from simunix.report.run_data import Run
from simunix.results.events import read_events

JOBS, NETWORK, EVENTS, PROCESSES = 1, 100_001, 100_002, 200_001
"""The track numbers of a host: first lane of jobs, connections, instants, first lane of processes."""
CONNECTION_NS = 1000
"""The nanoseconds for which a connection is drawn: a connection is an instant, but the format needs slices with a
length for arrows.
"""
EMULATION = "emulation"
"""The name of the track for events that belong to no single host."""


@dataclass(slots=True)
class Slice:
    """A bar on a track from one moment to another, in nanoseconds."""

    begin_ns: int
    end_ns: int
    name: str
    category: str
    details: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class _Host:
    """The events of one host."""

    jobs: list[Slice] = field(default_factory=list)
    processes: list[Slice] = field(default_factory=list)
    # moment, text, number of the arrow, whether this is the client's end
    connections: list[tuple[int, str, int, bool]] = field(default_factory=list)
    instants: list[tuple[int, str, dict[str, object]]] = field(default_factory=list)


def write_trace(target: Path, run: Run) -> int:
    """Write the trace, gzipped if the name ends in .gz; return the number of events. Raises SimunixError."""
    hosts = collect(run)
    count = 0
    try:
        with whole_path(target) as draft, _open(draft) as file:
            file.write('{"displayTimeUnit":"ms","otherData":' + json.dumps({"run": run.label}) + ',"traceEvents":[\n')
            for count, event in enumerate(trace_events(hosts), 1):
                file.write((",\n" if count > 1 else "") + json.dumps(event, separators=(",", ":")))
            file.write("\n]}\n")
    except OSError as error:
        raise SimunixError(unwritten(target, error, "choose another file with -o")) from error
    return count


def _open(draft: Path) -> IO[str]:
    return gzip.open(draft, "wt", encoding="utf-8") if draft.suffix == ".gz" else draft.open("w", encoding="utf-8")


# From the files of a run to slices


def collect(run: Run) -> dict[str, _Host]:
    """Return all events of a run, by host."""
    hosts: dict[str, _Host] = defaultdict(_Host)
    if run.jobs is not None:
        _collect_jobs(run, hosts)
    started: dict[int, tuple[int, str, str]] = {}
    addresses: dict[str, str] = {}
    connections: list[tuple[int, str, str, str]] = []
    last_ns = 0
    for event in read_events(run.directory / "events.jsonl"):
        last_ns = max(last_ns, event["t"])
        kind, host = event["event"], str(event.get("host", EMULATION))
        if kind == "process_start":
            started[event["number"]] = (event["t"], host, " ".join(map(str, event["argv"])))
        elif kind == "process_exit":
            hosts[host].processes.append(_ended(event, started.pop(event["number"], None)))
        elif kind == "connect":
            addresses.setdefault(event["source"].rpartition(":")[0], host)
            connections.append((event["t"], host, event["source"], event["destination"]))
        elif kind != "turn":
            details = {key: value for key, value in event.items() if key not in ("t", "event", "host")}
            hosts[host].instants.append((event["t"], kind, details))
    for begin_ns, host, command in started.values():
        hosts[host].processes.append(Slice(begin_ns, last_ns, command, "process", {"ended": "with the run"}))
    _collect_connections(hosts, connections, addresses)
    return hosts


def _collect_jobs(run: Run, hosts: dict[str, _Host]) -> None:
    assert run.jobs is not None
    jobs = run.jobs[run.jobs["finished"]]
    columns = ("job_id", "starting_time", "finish_time", "allocated_hosts", "submission_time", "final_state", "profile")
    rows: list[Any] = list(jobs.reindex(columns=[*columns, "requested_number_of_resources"]).itertuples(index=False))
    for row in rows:
        details: dict[str, object] = {
            "submitted_s": row.submission_time,
            "state": str(row.final_state),
            "profile": str(row.profile),
        }
        details["cores"] = row.requested_number_of_resources
        piece = Slice(round(row.starting_time * 1e9), round(row.finish_time * 1e9), f"job {row.job_id}", "job", details)
        for host in _names(row.allocated_hosts):
            hosts[host].jobs.append(piece)


def _names(text: object) -> list[str]:
    try:
        return expand_hosts(text) if isinstance(text, str) and text else []
    except ValueError:
        return [str(text)]


def _ended(event: dict[str, Any], start: tuple[int, str, str] | None) -> Slice:
    begin_ns, name = event.get("born", event["t"]), Path(str(event["program"])).name
    details = {"program": event["program"], "pid": event["pid"], "status": event.get("status")}
    if start is not None:
        begin_ns, details["command"] = start[0], start[2]
    return Slice(begin_ns, event["t"], name, "process", details)


def _collect_connections(
    hosts: dict[str, _Host], connections: Iterable[tuple[int, str, str, str]], addresses: dict[str, str]
) -> None:
    for flow, (moment, client, source, destination) in enumerate(connections, 1):
        address, _, port = destination.rpartition(":")
        server = addresses.get(address, address)
        hosts[client].connections.append((moment, f"connect {server}:{port}", flow, True))
        hosts[server].connections.append((moment, f"from {client} ({source}) to port {port}", flow, False))


# From slices to events of the format


def trace_events(hosts: dict[str, _Host]) -> Iterator[dict[str, object]]:
    """Yield the events host by host in the order of their names, the events of the emulation itself first."""
    for pid, name in enumerate(sorted(hosts, key=lambda name: (name != EMULATION, name)), 1):
        host = hosts[name]
        yield {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}
        yield {"ph": "M", "pid": pid, "name": "process_sort_index", "args": {"sort_index": pid}}
        yield from _lanes(pid, JOBS, "jobs", host.jobs)
        yield from _connections(pid, host.connections)
        yield from _instants(pid, host.instants)
        yield from _lanes(pid, PROCESSES, "processes", host.processes)


def in_lanes(slices: Iterable[Slice]) -> Iterator[tuple[int, Slice]]:
    """Yield each slice with the lowest free lane, from 0, because slices of one track may not overlap."""
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    for piece in sorted(slices, key=lambda piece: (piece.begin_ns, piece.end_ns)):
        while busy and busy[0][0] <= piece.begin_ns:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (max(piece.end_ns, piece.begin_ns + 1), lane))
        yield lane, piece


def _lanes(pid: int, first: int, name: str, slices: list[Slice]) -> Iterator[dict[str, object]]:
    named = -1
    for lane, piece in in_lanes(slices):
        tid = first + lane
        if lane > named:
            named = lane
            yield _track(pid, tid, f"{name} {lane + 1}" if lane else name)
        yield {
            "ph": "X",
            "pid": pid,
            "tid": tid,
            "ts": piece.begin_ns / 1e3,
            "dur": (piece.end_ns - piece.begin_ns) / 1e3,
            "name": piece.name,
            "cat": piece.category,
            "args": piece.details,
        }


def _connections(pid: int, connections: list[tuple[int, str, int, bool]]) -> Iterator[dict[str, object]]:
    if connections:
        yield _track(pid, NETWORK, "connections")
    ordered = sorted(connections)
    for index, (moment, text, flow, is_client) in enumerate(ordered):
        following = ordered[index + 1][0] if index + 1 < len(ordered) else moment + CONNECTION_NS
        where = {"pid": pid, "tid": NETWORK, "ts": moment / 1e3}
        length = min(CONNECTION_NS, following - moment) / 1e3
        yield {"ph": "X", **where, "dur": length, "name": text, "cat": "connection"}
        ends = {"ph": "s"} if is_client else {"ph": "f", "bp": "e"}
        yield {**ends, **where, "id": flow, "name": "connection", "cat": "connection"}


def _instants(pid: int, instants: list[tuple[int, str, dict[str, object]]]) -> Iterator[dict[str, object]]:
    if instants:
        yield _track(pid, EVENTS, "events")
    for moment, name, details in instants:
        yield {
            "ph": "i",
            "s": "t",
            "pid": pid,
            "tid": EVENTS,
            "ts": moment / 1e3,
            "name": name,
            "cat": "event",
            "args": details,
        }


def _track(pid: int, tid: int, name: str) -> dict[str, object]:
    return {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}}
