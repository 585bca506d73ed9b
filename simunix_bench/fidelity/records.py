"""The results of a run, as values and as JSON: what became of the jobs, how long many commands at once took, and what
sdiag reported.
"""

from __future__ import annotations

import itertools
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

FIELD = re.compile(r"(\w+)=(\S*)")
CYCLE = re.compile(r"Total cycles:\s*(\d+).*?Mean cycle:\s*(\d+)", re.DOTALL)
RPC = re.compile(r"^\s*([A-Z_]+)\s+\(\s*\d+\)\s+count:(\d+)\s+ave_time:(\d+)", re.MULTILINE)
SECTIONS = {"main": "Main schedule statistics", "backfill": "Backfilling stats"}
US_PER_S = 1e6


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as Slurm shows it at the end. Times are seconds after the script's origin; those of Slurm are whole seconds.

    `key` is equal in each run: the job's name with the number of its task, or its number among jobs of one name.
    `begun_s` and `done_s` are what the job's own program noted when it last began and ended, to the microsecond.
    """

    key: str
    state: str
    submit_s: int
    start_s: int | None
    end_s: int | None
    nodes: str
    restarts: int
    begun_s: float | None = None
    done_s: float | None = None

    @property
    def started_s(self) -> float | None:
        """When the job began, in seconds, as exactly as it is known; None if it did not begin."""
        return self.begun_s if self.begun_s is not None else self.start_s


@dataclass(frozen=True, slots=True)
class Burst:
    """A command that was executed many times: the seconds until the last copy ended, and the mean, median and 95th
    percentile of a copy.

    `cpu_s` is the CPU time of all processes of the host during that time.
    """

    count: int
    failed: int
    took_s: float
    mean_s: float
    median_s: float
    p95_s: float
    cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What sdiag reported: for both schedulers the number of cycles and their mean in seconds; for each type of RPC the
    number and the mean in seconds.

    `cpu_s` is the CPU time of all processes of the host since the action before.
    """

    cycles: Mapping[str, int]
    means_s: Mapping[str, float]
    rpcs: Mapping[str, tuple[int, float]]
    cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a script in an arm. `load` has the computer's load averages before and after the run."""

    arm: str
    script: str
    wall_s: float
    load: tuple[float, float]
    jobs: tuple[JobRecord, ...]
    bursts: Mapping[str, Burst]
    diagnoses: Mapping[str, Diagnosis]
    digest: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return a run of a script of Slurm commands as JSON, which `run_of` reads."""
        return asdict(self)


def run_of(found: Mapping[str, Any]) -> Run:
    """Return the run that its JSON describes."""
    return Run(
        found["arm"],
        found["script"],
        found["wall_s"],
        (found["load"][0], found["load"][1]),
        tuple(JobRecord(**job) for job in found["jobs"]),
        {name: Burst(**burst) for name, burst in found["bursts"].items()},
        {name: Diagnosis(**each) for name, each in found["diagnoses"].items()},
        found["digest"],
    )


def jobs_of(shown: str, log: str, origin: int) -> tuple[JobRecord, ...]:
    """Return the jobs of `scontrol -o show job` (SLURM_TIME_FORMAT=%s), with what the jobs' own log adds, by key."""
    noted: dict[tuple[str, str], float] = {}
    for line in log.splitlines():
        what, number, _, moment = line.split()
        noted[number, what] = float(moment) - origin  # the last restart of a job overwrites the former entries
    seen: Counter[str] = Counter()
    found = []
    rows: list[dict[str, str]] = [dict(FIELD.findall(line)) for line in shown.splitlines() if line.startswith("JobId=")]
    for row in sorted(rows, key=lambda row: int(row.get("ArrayJobId", row["JobId"]))):
        name, task = row["JobName"], row.get("ArrayTaskId")
        if task is None:
            seen[name] += 1
        key = f"{name}[{task}]" if task is not None else name if seen[name] == 1 else f"{name}#{seen[name]}"
        begun_s, done_s = (noted.get((row["JobId"], what)) for what in ("begin", "end"))
        if begun_s is not None and done_s is not None and done_s < begun_s:
            done_s = None  # that end was before a restart
        times = {name: _seconds(row[f"{name.capitalize()}Time"], origin) for name in ("submit", "start", "end")}
        found.append(
            JobRecord(
                key,
                row["JobState"],
                times["submit"] or 0,
                times["start"],
                times["end"],
                row["NodeList"].replace("(null)", ""),
                int(row["Restarts"]),
                begun_s,
                done_s,
            )
        )
    return tuple(sorted(found, key=lambda job: job.key))


def _seconds(text: str, origin: int) -> int | None:
    return int(text) - origin if text.isdigit() else None


def burst_of(took_s: float, each_s: Iterable[float], failed: int, cpu_s: float = 0.0) -> Burst:
    """Return the figures of a command that was executed many times."""
    ordered = sorted(each_s)
    late = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return Burst(len(ordered), failed, took_s, statistics.fmean(ordered), statistics.median(ordered), late, cpu_s)


def diagnosis_of(printed: str, cpu_s: float = 0.0) -> Diagnosis:
    """Return the values in sdiag's output; a scheduler without cycles has the mean 0."""
    cycles, means_s = {}, {}
    for name, title in SECTIONS.items():
        found = CYCLE.search(printed[printed.index(title) :].partition("\n\n")[0])
        cycles[name] = int(found[1]) if found else 0
        means_s[name] = int(found[2]) / US_PER_S if found else 0.0
    rpcs = {name: (int(count), int(mean) / US_PER_S) for name, count, mean in RPC.findall(printed)}
    return Diagnosis(cycles, means_s, rpcs, cpu_s)


def read_run(
    *, arm: str, script: str, output: Mapping[str, Any], log: str, wall_s: float, load: tuple[float, float], digest: str = ""
) -> Run:
    """Return the run of a script that is described by the player's output and the log of the jobs."""
    actions = output["actions"]
    shown = next((action["printed"] for action in actions if action["name"] == "jobs"), "")
    bursts = {
        action["name"]: burst_of(action["took"], action["each"], len(action["codes"]), _spent(action, action))
        for action in actions
        if "printed" not in action
    }
    diagnoses = {
        action["name"]: diagnosis_of(action["printed"], _spent(before, action))
        for before, action in itertools.pairwise([{}, *actions])
        if action.get("printed", "").lstrip("*\n").startswith("sdiag output")
    }
    return Run(arm, script, wall_s, load, jobs_of(shown, log, output["origin"]), bursts, diagnoses, digest)


def _spent(first: Mapping[str, Any], last: Mapping[str, Any]) -> float:
    """Return the CPU time from before the first action to after the last; if they are different actions, from after the
    first.
    """
    begin, end = first.get("spent"), last.get("spent")
    return 0.0 if begin is None or end is None else round(end[1] - begin[0 if first is last else 1], 2)
