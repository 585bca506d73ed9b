"""Explain why two runs of one scenario have different event logs: the first differences of their inputs, packages and
events.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.report.differences import differences
from simunix.report.run_data import Run
from simunix.results.dependencies import PACKAGES_FILE
from simunix.rjms.registry import RJMSS

OF_PACKAGES = ("program ", "root[", "kernel", "depends_on.", "input shim", "simunix", "rjms")
"""Beginnings of keys that describe a run's software rather than its input."""
INPUT_ORDER = ("seed", "cpu_policy", "network_model", "scenario.", "input ", "isolation")
"""Beginnings of keys of the input, those first that change a run most; all other keys come after them."""
INCIDENTAL = tuple(
    f"scenario.{key}" for key in ("name", "description", "pace", "pcap", "link_usage", "capacity", "merge_pages")
)
"""Keys of a scenario that change no event by themselves. If another key differs, that key is the reason."""
SOFTWARE_ORDER = ("simunix", "input shim", "rjms", "program ", "root[")
"""Beginnings of keys of the software, those first on which all of a run's programs depend; packages come after them."""
FIRST_PACKAGES = re.compile(rf"\S+ package (libc6|bash|dash|coreutils|python3\b|(lib)?({'|'.join(map(re.escape, RJMSS))}))")
"""A pattern of packages that most programs of a run use: the C library, shells, those of an RJMS."""
SHOWN = 160
"""The number of characters of a line that are shown."""


def reasons(one: Run, other: Run) -> Iterator[str]:
    """Yield lines for the user: whether the event logs differ, and the first difference of each kind."""
    digests = [run.record.get("events_sha256") for run in (one, other)]
    if None in digests:
        raise SimunixError(f"{(one, other)[digests.index(None)].directory}: no run.json with the digest of its events yet")
    if digests[0] == digests[1]:
        yield f"the event logs are the same to the byte ({str(digests[0])[:16]}…)"
        return
    yield f"the event logs differ: {str(digests[0])[:16]}… and {str(digests[1])[:16]}…"
    for run in (one, other):
        for reason in run.record.get("disturbances") or []:
            yield f"{run.label} cannot be repeated to the byte: {reason}"
    found, _ = differences([one, other])
    inputs = [row for row in found if not row[0].startswith(OF_PACKAGES)]
    software = [row for row in found if row[0].startswith(OF_PACKAGES) and not row[0].startswith("depends_on.list")]
    yield _first("input", sorted(inputs, key=lambda row: _input_rank(row[0])))
    yield _first("package", sorted([*package_rows(one, other), *software], key=lambda row: _software_rank(row[0])))
    yield _event(one, other)


def _place(key: str, beginnings: Sequence[str]) -> int:
    """Return the index of the beginning that a key has; the number of beginnings if it has none."""
    return next((place for place, beginning in enumerate(beginnings) if key.startswith(beginning)), len(beginnings))


def _input_rank(key: str) -> int:
    """Return the rank of a key of the input. Sorting by rank leaves keys of one rank in the order of the scenario."""
    section = re.match(r"scenario\.\w+", key)
    is_incidental = section is not None and section[0] in INCIDENTAL
    return len(INPUT_ORDER) + 1 if is_incidental else _place(key, INPUT_ORDER)


def _software_rank(key: str) -> int:
    """Return the rank of a key of the software: first packages on which all programs depend, then well-known packages,
    other packages, the computer.
    """
    if key.startswith(("depends_on.", "kernel")):
        return len(SOFTWARE_ORDER) + 2
    place = _place(key, SOFTWARE_ORDER)
    return place + (place == len(SOFTWARE_ORDER) and FIRST_PACKAGES.match(key) is None)


def _first(kind: str, rows: list[tuple[str, list[str]]]) -> str:
    if not rows:
        return f"{kind}: no difference"
    key, (before, after) = rows[0]
    more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
    return f"{kind}: {key}: {before:.{SHOWN}} | {after:.{SHOWN}}{more}"


def package_rows(one: Run, other: Run) -> list[tuple[str, list[str]]]:
    """Return the packages and plugins that differ, by name, with the version in each run."""
    lists = [_versions(run.directory / PACKAGES_FILE) for run in (one, other)]
    names = dict.fromkeys(itertools.chain(*lists)) if all(lists) else {}
    rows = [(name, [found.get(name, "–") for found in lists]) for name in names]
    return [row for row in rows if row[1][0] != row[1][1]]


def _versions(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return {}
    return {" ".join(words[:3]): " ".join(words[3:]) or "installed" for line in lines if len(words := line.split(" ")) >= 3}


def _event(one: Run, other: Run) -> str:
    """Return the first line in which the event logs differ. Turns (changes of the running thread) count for the digest,
    but are in the log only with --log-turns.
    """
    paths = [run.directory / "events.jsonl" for run in (one, other)]
    try:
        with paths[0].open(errors="replace") as first, paths[1].open(errors="replace") as second:
            for number, (before, after) in enumerate(itertools.zip_longest(first, second, fillvalue=""), 1):
                if before != after:
                    return f"event: line {number}: {_shown(before)} | {_shown(after)}"
    except OSError as error:
        return f"event: {error.filename}: {error.strerror}"
    return "event: none in events.jsonl, so the turns between them differ: run both again with --log-turns"


def _shown(line: str) -> str:
    return line.strip()[:SHOWN] or "(the log ends)"
