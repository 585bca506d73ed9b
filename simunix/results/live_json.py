"""Writes and reads live.json, which tells viewers of a run about its hosts and jobs before the run begins.

Paths are relative to the run directory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError
from rsg_server.whole_files import whole_file
from simunix.launch.run_directory import RunDirectory
from simunix.rjms.adapter import ByHand, ClusterPlan

NAME = "live.json"
NS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCluster:
    """A cluster: its nodes with their cores, and the files in which its RJMS records jobs (`ClusterPlan.records`,
    `ClusterPlan.diary`).

    Of each record and of the diary, the paths on all hosts that may have the file; the run shows which host writes it.
    `by_hand` are commands that its users run. `power_cap_w` has [begin, end, watts] of each power cap, in seconds of the run.
    """

    name: str
    rjms: str
    controller: str
    login: str
    nodes: Mapping[str, int]
    records: Sequence[Sequence[str]]
    is_by_line: bool
    diary: Sequence[str]
    by_hand: ByHand = field(default_factory=ByHand)
    power_cap_w: Sequence[Sequence[float]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveWorkload:
    """A workload: the number of its cluster, from 0; the file of the submitting program; and the number (in the trace)
    and the cores of each job. `origin_s` is the moment at which submission begins, in seconds of the run.
    """

    cluster: int
    submissions: str
    origin_s: float
    jobs: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRecord:
    """A run: `hosts` has the number of cores of each host; `epoch_s` is the Unix time of the run's start; `scenario` is
    the path of the scenario as the user gave it. `arguments` are the options of the command line that change the
    scenario, such as `--seed 3`; `environment` has the environment variables of all programs of the run.
    """

    name: str
    scenario: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    epoch_s: float
    hosts: Mapping[str, int]
    clusters: Sequence[LiveCluster]
    workloads: Sequence[LiveWorkload]

    def write(self, folder: Path) -> None:
        """Write live.json. Raises ServerError."""
        with whole_file(folder / NAME) as file:
            json.dump(asdict(self), file, separators=(",", ":"))
            file.write("\n")


def read_live(folder: Path) -> LiveRecord:
    """Read live.json. Raises SimunixError."""
    path = folder / NAME
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        found["clusters"] = [
            LiveCluster(**{**each, "by_hand": ByHand(**each.get("by_hand", {}))}) for each in found["clusters"]
        ]
        found["workloads"] = [LiveWorkload(**each) for each in found["workloads"]]
        return LiveRecord(**found)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SimunixError(f"{path}: cannot be read ({error}); give the folder of a run of a scenario") from error


def placed(directory: RunDirectory, cluster: ClusterPlan, path: str) -> Iterator[Path]:
    """Yield the places in the run directory of a path below a cluster's private paths: one file for each host that has
    the path.
    """
    for name, specs in cluster.private.items():
        for spec in specs:
            if path.startswith(spec.path + "/"):
                folder = directory.shared(spec.path) if spec.shared else directory.private(name, spec.path)
                yield folder / Path(path).relative_to(spec.path)


def live_cluster(directory: RunDirectory, cluster: ClusterPlan, cores: Mapping[str, int]) -> LiveCluster:
    """Return the entry of live.json for a cluster."""

    def below(path: str) -> list[str]:
        return list(dict.fromkeys(str(found.relative_to(directory.path)) for found in placed(directory, cluster, path)))

    return LiveCluster(
        name=cluster.name,
        rjms=cluster.rjms.name,
        controller=cluster.controller,
        login=cluster.login,
        nodes={name: cores[name] for name in cluster.nodes},
        records=[below(path) for path in cluster.records],
        is_by_line=cluster.record_mark == b"\n" and len(cluster.records) == 1,
        diary=below(cluster.diary),
        by_hand=cluster.rjms.clients.by_hand,
        power_cap_w=[(cap.start_ns / NS, cap.end_ns / NS, cap.watts) for cap in cluster.power_caps],
    )
