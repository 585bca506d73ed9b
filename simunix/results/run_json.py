"""run.json: what was run, with what, and what it cost, so that a result can be judged and repeated.

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
    """The content of run.json. Times in seconds; `events_sha256` covers every turn that passed the server."""

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
    server: str  # its form: compiled, or interpreted and why
    turns: int
    events_sha256: str
    deterministic: bool = True
    disturbances: list[str] = field(default_factory=list)  # why the run cannot be repeated to the byte
    cpu_policies: dict[str, Any] = field(default_factory=dict)  # default, hosts, programs, processes; empty if all is free
    overrides: list[str] = field(default_factory=list)  # --set, as given
    privileged: str = ""  # the hosts whose root is this computer's, as a host list
    epoch_s: float | None = None  # Unix time at the run's start
    kernel: str = field(default_factory=platform.release)
    inputs: dict[str, dict[str, str | None]] = field(default_factory=dict)
    roots: list[dict[str, object]] = field(default_factory=list)
    depends_on: dict[str, Any] = field(default_factory=dict)  # the rest of the computer, without kernel, roots and programs
    contexts: list[dict[str, Any]] = field(default_factory=list)  # of workloads that were cut with a context
    valid: bool = True  # every context was established when its replay began
    programs: dict[str, dict[str, str | None]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    unknown_calls: dict[str, int] = field(default_factory=dict)  # system calls that are not in the table, by number
    refused_calls: dict[str, int] = field(default_factory=dict)  # by name
    jobs: dict[str, int] = field(default_factory=dict)
    metrics: dict[str, float | None] = field(default_factory=dict)  # of the jobs that count; None if no job gives a value
    warnings: list[str] = field(default_factory=list)
    failed_processes: list[str] = field(default_factory=list)  # the first ones, how they ended, and how many more there are
    failed_checks: list[str] = field(default_factory=list)  # never and eventually of the scenario that do not hold
    oversubscribed: dict[str, dict[str, Any]] = field(default_factory=dict)  # hosts: since when, for how long, by whom
    cores: int = 0  # of all compute nodes
    hosts: dict[str, Any] = field(default_factory=dict)  # as `described_hosts` returns them

    @property
    def speed_up(self) -> float:
        """Virtual seconds per wall second of the run."""
        return self.virtual_s / self.wall_s if self.wall_s > 0 else 0.0

    def write(self, path: Path) -> None:
        """Write the record as indented JSON."""
        with whole_file(path) as file:
            file.write(json.dumps({**asdict(self), "speed_up": round(self.speed_up, 3)}, indent=2) + "\n")


def read_record(path: Path) -> dict[str, Any]:
    """Read run.json. Raises FileNotFoundError, and SimunixError with file and key for content that no run writes."""
    from simunix.results.run_json_schema import problem_of  # brings pydantic, which a run of a single command does not wait for

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
