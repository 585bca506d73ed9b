"""Read and write run.json: what was run, with which programs and options, and what the run cost, so that a result can
be judged and repeated.

A run writes the file as a `RunRecord`. `read_record` accepts only what a run writes, so that readers need no checks.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError
from rsg_server.platform.host import Host
from rsg_server.whole_files import whole_file


def sha256_of(path: Path) -> str | None:
    """Return the SHA-256 checksum of a file; None if the file cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def described_hosts(hosts: Iterable[Host]) -> dict[str, Any]:
    """Return the number of hosts, and the checksum of their names, cores and speeds."""
    lines = [f"{host.name} {host.cores} {host.speed_flops!r}\n" for host in hosts]
    return {"count": len(lines), "sha256": hashlib.sha256("".join(lines).encode()).hexdigest()}


def checksums(paths: Mapping[str, Path]) -> dict[str, dict[str, str | None]]:
    """Return path and sha256 of every input, by its role."""
    return {role: {"path": str(path), "sha256": sha256_of(path)} for role, path in paths.items()}


@dataclass(slots=True, kw_only=True)
class RunRecord:
    """The content of run.json. Times are in seconds. `events_sha256` is the checksum of all events and of all turns
    (the right to run, passed from thread to thread) that the server gave.
    """

    name: str
    simunix: str
    rjms: str | None
    seed: int
    cpu_policy: str
    network_model: str
    isolation: str
    ended: str
    failure: str | None
    virtual_s: float
    wall_s: float
    server_cpu_s: float
    server: str  # compiled, or interpreted with the reason
    turns: int
    events_sha256: str
    deterministic: bool = True
    disturbances: list[str] = field(default_factory=list)  # the reasons why the run cannot be repeated to the byte
    # the policies of default, hosts, programs and processes; empty if all computing is free
    cpu_policies: dict[str, Any] = field(default_factory=dict)
    overrides: list[str] = field(default_factory=list)  # the values of --set, as given
    privileged: str = ""  # the hosts whose root user is this computer's root, as a host list
    epoch_s: float | None = None  # the Unix time at which the run began
    kernel: str = field(default_factory=platform.release)
    inputs: dict[str, dict[str, str | None]] = field(default_factory=dict)
    roots: list[dict[str, object]] = field(default_factory=list)
    # further facts about this computer, besides kernel, roots and programs
    depends_on: dict[str, Any] = field(default_factory=dict)
    contexts: list[dict[str, Any]] = field(default_factory=list)  # facts about workloads that were cut with a context
    valid: bool = True  # whether the state of every context was restored when its replay began
    programs: dict[str, dict[str, str | None]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    unknown_calls: dict[str, int] = field(default_factory=dict)  # system calls that are not in the table, by number
    refused_calls: dict[str, int] = field(default_factory=dict)  # by name
    jobs: dict[str, int] = field(default_factory=dict)
    # the metrics over the jobs that count; None for a metric without a value
    metrics: dict[str, float | None] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    # the first failed processes, how they ended, and the number of further ones
    failed_processes: list[str] = field(default_factory=list)
    failed_checks: list[str] = field(default_factory=list)  # the failed checks `never` and `eventually` of the scenario
    # the oversubscribed hosts by name: since when, for how long, by which programs
    oversubscribed: dict[str, dict[str, Any]] = field(default_factory=dict)
    cores: int = 0  # the cores of all compute nodes
    hosts: dict[str, Any] = field(default_factory=dict)  # the value that `described_hosts` returns

    @property
    def speed_up(self) -> float:
        """How many virtual seconds of the run passed per second of real time."""
        return self.virtual_s / self.wall_s if self.wall_s > 0 else 0.0

    def write(self, path: Path) -> None:
        """Write the record of the run to run.json, as indented JSON."""
        with whole_file(path) as file:
            file.write(json.dumps({**asdict(self), "speed_up": round(self.speed_up, 3)}, indent=2) + "\n")


def read_record(path: Path) -> dict[str, Any]:
    """Read run.json. Raises FileNotFoundError if there is no such file, and SimunixError with file and key for content
    that no run writes.
    """
    # imports pydantic, which takes long, and which a run of a single command does not need
    from simunix.results.run_json_schema import problem_of

    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or f"not JSON ({error})"
        raise SimunixError(f"{path}: {reason}; run the scenario again") from error
    if not isinstance(record, dict):
        raise SimunixError(f"{path}: expected an object, as simunix run writes it; run the scenario again")
    if problem := problem_of(record):
        raise SimunixError(f"{path}: {problem}; run the scenario again")
    return record
