"""Read and write choices.jsonl, the decisions of an exploring run (such as which thread runs next): a line about all
choices, then a line for each choice that is not 0.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from rsg_server.choices.places import PLACES
from rsg_server.choices.source import Choice, Choices
from rsg_server.errors import SimunixError, described, quoted
from rsg_server.whole_files import whole_file

NAME = "choices.jsonl"
_KEYS = {"number": int, "place": str, "alternatives": int, "taken": int}


@dataclass(frozen=True, slots=True)
class ChoicesFile:
    """The kinds of choices (places) of a run, how many choices the run made (-1: unknown), and the choices that are not
    0, by number of the choice.
    """

    places: frozenset[str]
    count: int
    taken: tuple[Choice, ...]


def write_choices(path: Path, file: ChoicesFile) -> None:
    """Write the choices of a run to a file."""
    head = {"places": [place for place in PLACES if place in file.places], "count": file.count}
    lines = [json.dumps(head)]
    for choice in file.taken:
        line = {name: getattr(choice, name) for name in _KEYS}
        lines.append(json.dumps({**line, "t": choice.at_ns, "what": choice.what}))
    with whole_file(path) as out:
        out.write("\n".join(lines) + "\n")


def made_by(choices: Choices) -> ChoicesFile:
    """Return the choices of a run that has ended."""
    return ChoicesFile(choices.places, choices.count, tuple(sorted(choices.taken, key=lambda choice: choice.number)))


def read_choices(path: Path) -> ChoicesFile:
    """Read a file of choices. Raises SimunixError with file and line."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = described(error) if isinstance(error, OSError) else f"{path}: not a text file"
        raise SimunixError(f"{reason}; give the {NAME} of a run that explored") from error
    if not lines:
        raise SimunixError(f"{path}: empty; give the {NAME} of a run that explored")
    head = _object(path, 1, lines[0])
    places, count = head.get("places"), head.get("count")
    if not isinstance(places, list) or not set(map(str, places)) <= set(PLACES) or type(count) is not int:
        raise SimunixError(f"{path}:1: expected places ({', '.join(PLACES)}) and count, got {quoted(lines[0])}")
    taken = tuple(_choice(path, number, line) for number, line in enumerate(lines[1:], 2))
    numbers = [choice.number for choice in taken]
    if any(one >= other for one, other in pairwise(numbers)):
        raise SimunixError(f"{path}: choices are not in the order of their numbers; give the file as simunix wrote it")
    return ChoicesFile(frozenset(places), count, taken)


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SimunixError(f"{path}:{number}: not JSON ({error}); give the file as simunix wrote it") from error
    if not isinstance(value, dict):
        raise SimunixError(f"{path}:{number}: expected an object, got {quoted(line)}")
    return value


def _choice(path: Path, number: int, line: str) -> Choice:
    value = _object(path, number, line)
    for name, kind in _KEYS.items():
        if type(value.get(name)) is not kind:
            raise SimunixError(f"{path}:{number}: {name}: expected {kind.__name__}, got {quoted(value.get(name))}")
    number_of_choice, place, alternatives, taken = (value[name] for name in _KEYS)
    choice = Choice(number_of_choice, place, alternatives, taken, int(value.get("t", 0)), str(value.get("what", "")))
    if choice.place not in PLACES or not 0 < choice.taken < choice.alternatives or choice.number < 0:
        raise SimunixError(f"{path}:{number}: no choice of a run: {quoted(line)}; taken is from 1 to alternatives - 1")
    return choice
