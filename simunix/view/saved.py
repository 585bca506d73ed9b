"""Writes the scenario of a run with what was done by hand: a run of that does at the same virtual times what the user did."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from rsg_server.errors import SimunixError
from simunix.view.actions import Recorded

HEAD = "# {scenario}, with what was done by hand in a run of it. Its relative paths hold: keep this file beside that one.\n"
AGAIN = "# That run had other values from its command line: simunix run {arguments} FILE\n"
_KEY = re.compile(r"^(?P<key>[A-Za-z_][\w-]*)\s*:")


def with_actions(text: str, recorded: Recorded, scenario: str, arguments: Sequence[str]) -> str:
    """The text of a scenario with the recorded entries. Comments stay, but for those inside of the sections that grow.

    Raises SimunixError if a section that is to grow is no list.
    """
    for key, entries in (("events", recorded.events), ("processes", recorded.processes)):
        if entries:
            text = _grown(text, key, entries)
    again = AGAIN.format(arguments=" ".join(arguments)) if arguments else ""
    return HEAD.format(scenario=scenario) + again + text


def _grown(text: str, key: str, entries: Sequence[Mapping[str, Any]]) -> str:
    """The text with more entries of one top-level section, which is made if there is none."""
    lines = text.splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if (found := _KEY.match(line)) and found["key"] == key]
    if not starts:
        end = "" if text.endswith("\n") or not text else "\n"
        return text + end + _dumped(key, entries)
    first = starts[-1]
    last = next((number for number in range(first + 1, len(lines)) if _KEY.match(lines[number])), len(lines))
    try:
        before = (yaml.safe_load("".join(lines[first:last])) or {}).get(key) or []
    except yaml.YAMLError as error:
        raise SimunixError(f"scenario.yaml: {key}: {' '.join(str(error).split())}") from error
    if not isinstance(before, list):
        raise SimunixError(f"scenario.yaml: {key}: expected a list, to which what was done by hand can be added")
    return "".join([*lines[:first], _dumped(key, [*before, *entries]), *lines[last:]])


def _dumped(key: str, entries: Sequence[Mapping[str, Any]]) -> str:
    return yaml.safe_dump({key: list(entries)}, sort_keys=False, width=120, allow_unicode=True)
