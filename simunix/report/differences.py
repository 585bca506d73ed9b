"""Find the differences between the configurations of runs: scenario, options, inputs, versions. Results are not
compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simunix.report.run_data import Run

OPTIONS = ("simunix", "rjms", "seed", "cpu_policy", "network_model", "isolation", "kernel")
"""Keys of run.json that tell how a run was made."""
ABSENT = "–"
KEYS_MAX = 100_000
DIGEST = 12
"""The number of a checksum's digits that a report shows."""


def differences(runs: Sequence[Run]) -> tuple[list[tuple[str, list[str]]], int]:
    """Return the keys in which runs differ, with the value in each run, and the number of keys in which the runs agree.

    For a run without run.json, only the scenario is compared, since nothing else is known.
    """
    found = [settings(run) for run in runs]
    keys = list(dict.fromkeys(key for one in found for key in one))
    rows = [(key, [one.get(key, ABSENT) for one in found]) for key in keys]
    whole = [number for number, run in enumerate(runs) if run.record]

    def compared(key: str, values: list[str]) -> list[str]:
        return values if key.startswith("scenario.") else [values[number] for number in whole]

    differing = [(key, values) for key, values in rows if len(set(compared(key, values))) > 1]
    return differing, len(rows) - len(differing)


def settings(run: Run) -> dict[str, str]:
    """Return the whole configuration of a run, as texts by key."""
    record = run.record
    found = {key: _text(record[key]) for key in OPTIONS if key in record}
    found |= _flat("scenario", _scenario(run.directory / "scenario.yaml"))
    for override in record.get("overrides") or []:
        key, _, value = str(override).partition("=")
        place = "scenario." + re.sub(r"\.(\d+)(?=\.|\[|$)", r"[\1]", key.removesuffix("+"))
        if key.endswith("+"):
            found |= _appended(found, place, _parsed(value))
            continue
        found = {one: text for one, text in found.items() if not re.match(re.escape(place) + r"[.\[]", one)}
        found |= _flat(place, _parsed(value))
    for role, file in (record.get("inputs") or {}).items():
        if role != "scenario":  # the content of the scenario is compared key by key
            found[f"input {role}"] = _text(file.get("sha256"))[:DIGEST]
    for name, file in (record.get("programs") or {}).items():
        digest = _text(file.get("sha256"))[:DIGEST]
        found[f"program {name}"] = f"{file['package']} ({digest})" if file.get("package") else digest
    for key, value in (record.get("depends_on") or {}).items():
        found[f"depends_on.{key}"] = _text(value)
    for number, root in enumerate(record.get("roots") or []):
        for key in ("path", "release", "glibc", "slurm"):
            found[f"root[{number}].{key}"] = _text(root.get(key))
    return found


def _scenario(path: Path) -> Any:
    try:
        return _parsed(path.read_text())
    except (OSError, UnicodeDecodeError):
        return {}


def _parsed(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return text


def _appended(found: Mapping[str, str], place: str, value: Any) -> dict[str, str]:
    """Return the keys for an element that is appended to the list at `place`; `found` has the keys of the present
    elements.
    """
    element = re.compile(re.escape(place) + r"\[(\d+)\]")
    first = 1 + max((int(match[1]) for match in map(element.match, found) if match), default=-1)
    added: dict[str, str] = {}
    for number, each in enumerate(value if isinstance(value, list) else [value], first):
        added |= _flat(f"{place}[{number}]", each)
    return added


def _flat(key: str, value: Any) -> dict[str, str]:
    """Return every value that contains no other value, by its key. A value that contains itself, or is endless, is
    returned as a text that says so.
    """
    return _leaves(key, value) if _size(value) < KEYS_MAX else {key: "too large to be compared"}


def _size(value: Any) -> int:
    """Return how many values a value contains, but at most KEYS_MAX."""
    stack, count = [value], 0
    while stack and count < KEYS_MAX:
        inner = stack.pop()
        count += 1
        stack += inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else []
    return count


def _leaves(key: str, value: Any) -> dict[str, str]:
    if isinstance(value, dict) and value:
        return {name: text for part, below in value.items() for name, text in _leaves(f"{key}.{part}", below).items()}
    if isinstance(value, list) and value:
        return {name: text for part, below in enumerate(value) for name, text in _leaves(f"{key}[{part}]", below).items()}
    return {} if value in ({}, []) else {key: _text(value)}


def _text(value: object) -> str:
    return ABSENT if value is None else str(value).strip()
