"""Translate a job's profile into a script for the job program, which runs on the emulated hosts (csrc/jobs/script.c
describes the language). This module only makes text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rsg_server.errors import SimunixError
from simunix.jobs import profile as kinds
from simunix.jobs.profile import Profile, parse_profile, share

DEPTH_MAX = 60
"""The deepest nesting of sequence profiles; the job program can nest 64 blocks."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The environment of scripts: the path of the `program` that runs scripts, the launcher of its ranks, and the
    `storages` by label.

    A storage is a server, given as (host, port), or a path that every host with jobs can see.
    """

    program: str
    launch: tuple[str, ...] = ()
    storages: Mapping[str, tuple[str, int] | str] = field(default_factory=dict)


class Profiles:
    """The profiles of a workload by name, each parsed when it is first needed. `where` begins all error messages."""

    def __init__(self, descriptions: Mapping[str, Mapping[str, Any]], where: str) -> None:
        self._descriptions = descriptions
        self._parsed: dict[str, Profile] = {}
        self.where = where

    def place(self, name: str) -> str:
        """Return the text by which error messages name a profile."""
        return f"{self.where}: profiles.{name}"

    def get(self, name: str, asked_by: str) -> Profile:
        """Return the profile of a name. Raises SimunixError if the workload has no such profile, or simunix does not
        support its type; `asked_by` names the job or profile that uses it.
        """
        if name not in self._descriptions:
            raise SimunixError(f"{asked_by}: there is no profile {name!r}; add it under profiles")
        if name not in self._parsed:
            self._parsed[name] = parse_profile(self._descriptions[name], self.place(name))
        return self._parsed[name]


def job_script(profiles: Profiles, name: str, ranks: int, stage: Stage) -> str:
    """Return the complete script of a job that does a profile on `ranks` ranks. Raises SimunixError if the profile does
    not fit the ranks or the storages.
    """
    writer = _Writer(profiles, ranks, stage)
    body = list(writer.lines(name, (), profiles.place(name)))
    head = [f"#!{stage.program}", f"# profile {_printable(name)}, {ranks} ranks", f"ranks {ranks}"]
    if ranks > 1 and "task" in body:
        head.append("launch " + " ".join(stage.launch))
    head += [f"storage {_words(stage.storages[label])}" for label in writer.storages]
    return "\n".join([*head, *body]) + "\n"


PIECE_BYTES = 64 << 20
"""The space on disk that a transfer to a path uses, in bytes: each piece overwrites the piece before
(csrc/jobs/file.c).
"""


def room_bytes(script: str) -> int:
    """Return the most bytes that a script occupies at one time on storages that are paths. All ranks write at one time;
    lines of the script run one after the other.
    """
    lines = [line.split() for line in script.splitlines()]
    ranks = next((int(words[1]) for words in lines if words[:1] == ["ranks"]), 1)
    is_path = [words[1].startswith("/") for words in lines if words[:1] == ["storage"]]
    rooms = [0]
    for words in lines:
        if words[:1] == ["write"] and is_path[int(words[2])]:
            rooms.append(ranks * min(int(words[3]), PIECE_BYTES))
        elif words[:1] == ["stage"] and is_path[int(words[2])]:
            rooms.append(min(int(words[3]), PIECE_BYTES))
    return max(rooms)


def _words(storage: tuple[str, int] | str) -> str:
    return storage if isinstance(storage, str) else f"{storage[0]} {storage[1]}"


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _whole(amount: float) -> int:
    return math.ceil(amount)


def _seconds(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")


class _Writer:
    """Writes the lines of a script for a given number of ranks, and numbers the storages that the profiles name."""

    def __init__(self, profiles: Profiles, ranks: int, stage: Stage) -> None:
        self.profiles = profiles
        self.ranks = ranks
        self.stage = stage
        self.storages: list[str] = []

    def lines(self, name: str, above: tuple[str, ...], asked_by: str) -> Iterator[str]:
        """Yield the lines of a profile; `above` has the names of the sequence profiles that contain it."""
        if name in above:
            raise SimunixError(f"{asked_by}: {' -> '.join((*above, name))}: a sequence cannot contain itself")
        if len(above) >= DEPTH_MAX:
            raise SimunixError(f"{asked_by}: more than {DEPTH_MAX} sequences in each other")
        profile = self.profiles.get(name, asked_by)
        if isinstance(profile, kinds.Sequence):
            yield from self._sequence(profile, (*above, name))
        else:
            yield from _LINES[type(profile)](self, profile, self.profiles.place(name))
        if profile.ret:
            yield f"exit {profile.ret}"

    def _sequence(self, profile: kinds.Sequence, above: tuple[str, ...]) -> Iterator[str]:
        if profile.repeat > 1:
            yield f"repeat {profile.repeat}"
        for place, part in enumerate(profile.seq):
            yield from self.lines(part, above, f"{self.profiles.place(above[-1])}.seq.{place}")
        if profile.repeat > 1:
            yield "end"

    def delay(self, profile: Any, where: str) -> Iterator[str]:
        yield f"delay {_seconds(profile.delay)}"

    def suspendable(self, profile: Any, where: str) -> Iterator[str]:
        yield f"suspendable {_seconds(profile.delay)}"

    def command(self, profile: Any, where: str) -> Iterator[str]:
        launchers = {"none": "", "srun": "srun ", "mpiexec": f"mpiexec -n {self.ranks} "}
        yield f"run {launchers[profile.launcher]}{profile.command}"

    def parallel(self, profile: Any, where: str) -> Iterator[str]:
        n = self.ranks
        for key, values, expected in (("cpu", profile.cpu, n), ("com", profile.com, n * n)):
            if values and len(values) != expected:
                raise SimunixError(f"{where}.{key}: {len(values)} values, but a job on {n} resources needs {expected}")
        yield "task"
        yield from (f"cpu {rank} {_whole(flops)}" for rank, flops in enumerate(profile.cpu or ()) if flops)
        for place, size in enumerate(profile.com or ()):
            if size:
                yield f"send {place // n} {place % n} {_whole(size)}"
        yield "end"

    def homogeneous(self, profile: Any, where: str) -> Iterator[str]:
        n = self.ranks
        yield "task"
        if profile.cpu:
            yield f"cpu * {_whole(share(profile, profile.cpu, n))}"
        if profile.com and n > 1:
            yield f"send * * {_whole(share(profile, profile.com, n * n - n))}"
        yield "end"

    def on_storage(self, profile: Any, where: str) -> Iterator[str]:
        storage = self.storage(profile.storage, f"{where}.storage")
        yield "task"
        for verb, total in (("read", profile.bytes_to_read), ("write", profile.bytes_to_write)):
            if total:
                yield f"{verb} * {storage} {_whole(share(profile, total, self.ranks))}"
        yield "end"

    def staging(self, profile: Any, where: str) -> Iterator[str]:
        source, target = self.storage(profile.source, f"{where}.from"), self.storage(profile.target, f"{where}.to")
        if isinstance(self.stage.storages[profile.source], str) != isinstance(self.stage.storages[profile.target], str):
            text = f"{profile.source!r} and {profile.target!r} are a host and a path; see workload.storage"
            raise SimunixError(f"{where}: {text}")
        yield f"stage {source} {target} {_whole(profile.nb_bytes)}"

    def storage(self, label: str, where: str) -> int:
        """Return the number of a storage in this script. Raises SimunixError, beginning with `where`, for an unknown
        label.
        """
        if label not in self.stage.storages:
            known = ", ".join(self.stage.storages) or "none"
            raise SimunixError(f"{where}: there is no storage {label!r}; add it under workload.storage (known: {known})")
        if label not in self.storages:
            self.storages.append(label)
        return self.storages.index(label)


_LINES: dict[type[Profile], Callable[[_Writer, Any, str], Iterator[str]]] = {
    kinds.Delay: _Writer.delay,
    kinds.Failure: _Writer.delay,
    kinds.Suspendable: _Writer.suspendable,
    kinds.Command: _Writer.command,
    kinds.ParallelTask: _Writer.parallel,
    kinds.Homogeneous: _Writer.homogeneous,
    kinds.HomogeneousTotal: _Writer.homogeneous,
    kinds.OnStorage: _Writer.on_storage,
    kinds.Staging: _Writer.staging,
}
