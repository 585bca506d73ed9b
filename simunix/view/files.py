"""Reads what a run writes, as it grows: the submitter's file, the RJMS's log and records, the event log.

The run is asked nothing, so reading costs it nothing.
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from simunix.results.live_json import LiveCluster, LiveRecord, LiveWorkload
from simunix.rjms.adapter import CompletedJob, JobNews, Rjms
from simunix.rjms.registry import RJMSS
from simunix.view.model import PENDING, REJECTED, RUNNING, Job, Model

BLOCK_BYTES = 1 << 22
"""The most that is read of a file at once: a viewer that begins late catches up in several rounds."""
WHOLE_EVERY_S, WHOLE_BYTES = 5.0, 1 << 24
"""Records that have no line for each job are read as a whole, so often, up to this size."""
FAULTS = frozenset(
    "host_off host_on host_boot host_shutdown boot_hangs power_state link storage partition heal loss".split()  # noqa: SIM905
)
"""The events of the event log that are about the machine."""
NS = 10**9


def existing(paths: Sequence[Path]) -> Path | None:
    """The first of the paths that exists; None if none does yet."""
    return next((path for path in paths if path.exists()), None)


class Tail:
    """A file that grows: the first of some paths that exists, once one does."""

    def __init__(self, *paths: Path) -> None:
        self._paths = paths
        self._path: Path | None = None
        self.at = 0
        self._rest = b""

    @property
    def exists(self) -> bool:
        """Whether the file is there."""
        self._path = self._path or existing(self._paths)
        return self._path is not None

    def lines(self) -> list[str]:
        """The whole lines that have come since the last time; of many, the first."""
        if not self.exists:
            return []
        assert self._path is not None
        try:
            with self._path.open("rb") as file:
                file.seek(self.at)
                block = file.read(BLOCK_BYTES)
        except OSError:
            return []
        self.at += len(block)
        *lines, self._rest = (self._rest + block).split(b"\n")
        return [line.decode(errors="replace") for line in lines]


class Records:
    """The records of a cluster's jobs, as the RJMS writes them."""

    def __init__(self, folder: Path, cluster: LiveCluster) -> None:
        self._rjms = RJMSS[cluster.rjms]
        self._candidates = [[folder / path for path in paths] for paths in cluster.records]
        self._tail = Tail(*self._candidates[0]) if cluster.is_by_line and self._candidates else None
        self._sizes: list[int] = []
        self._next_s = 0.0

    def fresh(self) -> dict[str, CompletedJob]:
        """The jobs of which something was recorded since the last time. A record that is not whole yet tells nothing."""
        texts = self._by_line() if self._tail is not None else self._whole()
        try:
            return self._rjms.completed(texts) if any(texts) else {}
        except (ValueError, KeyError, IndexError):  # written at this very moment
            return {}

    def _by_line(self) -> list[str]:
        assert self._tail is not None
        return ["".join(f"{line}\n" for line in self._tail.lines())]

    def _whole(self) -> list[str]:
        now = time.monotonic()
        if now < self._next_s:
            return []
        self._next_s = now + WHOLE_EVERY_S
        paths = [existing(candidates) for candidates in self._candidates]
        sizes = [path.stat().st_size if path is not None else 0 for path in paths]
        if sizes == self._sizes or sum(sizes) > WHOLE_BYTES:
            return []
        self._sizes = sizes
        return [path.read_text(errors="replace") if path is not None else "" for path in paths]


class RunFiles:
    """All files of a run that the page follows."""

    def __init__(self, folder: Path, live: LiveRecord, model: Model) -> None:
        self._model, self._epoch_s = model, live.epoch_s
        self._events = Tail(folder / "events.jsonl")
        self._workloads = [(each, _cores(each), Tail(folder / each.submissions)) for each in live.workloads]
        self._clusters: list[tuple[str, Rjms, Tail, Records]] = [
            (
                f"{each.name}:" if len(live.clusters) > 1 else "",
                RJMSS[each.rjms],
                Tail(*(folder / path for path in each.diary)),
                Records(folder, each),
            )
            for each in live.clusters
            if each.rjms in RJMSS
        ]

    @property
    def tells_starts(self) -> bool:
        """Whether every cluster has a log that tells when jobs start, so that no job is missing here."""
        return bool(self._clusters) and all(diary.exists for _, _, diary, _ in self._clusters)

    def look_to_end(self) -> None:
        """Read all that is left of a run that has ended, into the model."""
        tails = [self._events, *(tail for _, _, tail in self._workloads), *(diary for _, _, diary, _ in self._clusters)]
        while True:
            before = [tail.at for tail in tails]
            self.look()
            if before == [tail.at for tail in tails]:
                return

    def look(self) -> None:
        """Read what has come since the last time, into the model."""
        for workload, cores, tail in self._workloads:
            self._read_submissions(workload, cores, tail)
        for prefix, rjms, diary, records in self._clusters:
            for line in diary.lines():
                news = rjms.news(line)
                if news is not None:
                    self._note_news(prefix + news.number, news)
            for number, job in records.fresh().items():
                self._note_completed(prefix + number, job)
        for fault in faults_of(self._events.lines()):
            self._model.note_fault(fault)
        self._model.tell()

    def _read_submissions(self, workload: LiveWorkload, cores: dict[int, int], tail: Tail) -> None:
        prefix = self._clusters[workload.cluster][0] if len(self._clusters) > workload.cluster else ""
        for row in csv.reader(io.StringIO("\n".join(tail.lines()))):
            if len(row) < 5 or not row[0].isdigit():
                continue
            name, at_s, number = row[0], workload.origin_s + float(row[2]), row[4]
            count = cores.get(int(name))
            key = prefix + number if number else f"{prefix}trace {name}"
            is_refused = not number and len(row) > 5 and bool(row[5])
            self._model.set_job(key, partial(_submitted, name=name, at_s=at_s, cores=count, is_refused=is_refused))

    def _note_news(self, key: str, news: JobNews) -> None:
        at_s = news.at_s - self._epoch_s

        def changed(job: Job) -> Job:
            if news.what == "submitted":
                return job if job.submitted_s is not None else replace(job, submitted_s=at_s)
            if news.what == "waits":
                return replace(job, state=PENDING, started_s=None, ended_s=None, nodes="")
            cores = job.cores if news.cores is None else news.cores
            return replace(job, state=RUNNING, started_s=at_s, ended_s=None, nodes=news.nodes, cores=cores)

        self._model.set_job(key, changed)

    def _note_completed(self, key: str, done: CompletedJob) -> None:
        def changed(job: Job) -> Job:
            if done.waits_again:
                return replace(job, state=PENDING, started_s=None, ended_s=None, nodes="")
            return replace(
                job,
                state=done.state,
                submitted_s=done.submit_s - self._epoch_s if job.submitted_s is None else job.submitted_s,
                started_s=None if done.start_s is None else done.start_s - self._epoch_s,
                ended_s=done.end_s - self._epoch_s,
                nodes=done.nodes,
                cores=done.cores,
            )

        self._model.set_job(key, changed)


def _submitted(job: Job, *, name: str, at_s: float, cores: int | None, is_refused: bool) -> Job:
    """The job, of which is known now when it was submitted, and under which of the trace's numbers."""
    job = replace(job, name=name, submitted_s=at_s, cores=job.cores if cores is None else cores)
    return replace(job, state=REJECTED, ended_s=at_s) if is_refused else job


def _cores(workload: LiveWorkload) -> dict[int, int]:
    return {each[0]: each[1] for each in workload.jobs}


def faults_of(lines: list[str]) -> Iterator[dict[str, object]]:
    """The events of the event log that are about the machine, with their moments in seconds."""
    for line in lines:
        kind = line.partition('"event":"')[2].partition('"')[0]
        if kind in FAULTS:
            event = json.loads(line)
            yield {"at_s": event.pop("t") / NS, "what": event.pop("event"), **event}


def finished_jobs(folder: Path) -> list[Job]:
    """The jobs of a run that has ended, from jobs.csv; none if there is no such file."""
    path = folder / "jobs.csv"
    if not path.exists():
        return []
    with path.open(newline="", errors="replace") as file:
        return [_finished(number, row) for number, row in enumerate(csv.DictReader(file), 1) if row.get("submission_time")]


def _finished(number: int, row: dict[str, str]) -> Job:
    return Job(
        key=f"{number}",
        name=row["job_id"],
        state=row["final_state"],
        submitted_s=_number(row["submission_time"]),
        started_s=_number(row["starting_time"]),
        ended_s=_number(row["finish_time"]) or _number(row.get("removal_time") or ""),
        nodes=row.get("allocated_hosts") or "",
        cores=int(row.get("allocated_cores") or 0) or int(row["requested_number_of_resources"] or 0),
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
