"""Read a scenario from a YAML file. Every error is one line with file, line, key and the expected value."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rsg_server.errors import quoted
from simunix.scenario import yaml_text
from simunix.scenario.located import ScenarioError
from simunix.scenario.model import Scenario, one_or_more

Location = tuple[str | int, ...]
_KEY = re.compile(r"[\w-]+(\[[0-9]+\]|\.[\w/-]+)*")
CHECKS = ("function-before", "[key]")
"""The words in pydantic's locations that stand for a check of a value or of a key."""
LONGEST = 500
"""The most characters of a check's message that are shown, because a message may repeat a value of any length."""
Model = TypeVar("Model", bound=BaseModel)


class _Positions:
    """The line number of every key and element in a YAML document. A repeated key is an error."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[Location, int] = {}
        self.overridden: dict[str, str] = {}

    def walk(self, node: yaml.Node, location: Location = ()) -> None:
        self.lines.setdefault(location, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                below = (*location, str(key.value))
                if below in self.lines:
                    raise ScenarioError(f"{self.path}:{key.start_mark.line + 1}: {dotted(below)}: written twice; keep one")
                self.lines[below] = key.start_mark.line + 1
                self.walk(value, below)
        elif isinstance(node, yaml.SequenceNode):
            for index, value in enumerate(node.value):
                self.walk(value, (*location, index))

    def written(self, location: Location) -> Location:
        """Return a location as it is written in the file: a section that is written without its list has no index."""
        kept: Location = ()
        for part in location:
            is_known = (*kept, part) in self.lines or dotted((*kept, part)) in self.overridden
            if isinstance(part, str) or is_known or kept not in self.lines:
                kept = (*kept, part)
        return kept

    def where(self, location: Location) -> str:
        """Return `file:line` of a value, or the --set option that gave the value."""
        for length in range(len(location), -1, -1):
            if dotted(location[:length]) in self.overridden:
                return f"--set {self.overridden[dotted(location[:length])]}"
            if location[:length] in self.lines:
                return f"{self.path}:{self.lines[location[:length]]}"
        return str(self.path)

    def of_key(self, key: str) -> str | None:
        """Return `file:line` of a key such as `events[3].host`, or else of the section that contains it; None for a key
        of another file.
        """
        if not _KEY.fullmatch(key):
            return None
        location = self.written(tuple(_part(part) for part in re.findall(r"[^.\[\]]+", key)))
        is_known = location[:1] in self.lines or any(re.split(r"[.\[]", name)[0] == location[0] for name in self.overridden)
        return self.where(location) if is_known else None


def _part(word: str) -> str | int:
    """Return a part of a key as a number if it is the index of an element."""
    return int(word) if re.fullmatch(r"[0-9]{1,9}", word) else word


def dotted(location: Sequence[str | int]) -> str:
    """Return a location in the notation of messages: `hosts[3].cores`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def load(model: type[Scenario], path: Path, overrides: Sequence[str] = ()) -> Scenario:
    """Read a scenario file and check it by `model`; `overrides` are the KEY=VALUE texts of --set. Raises ScenarioError
    for a wrong value.
    """
    document, positions = read_document(path, "a scenario file, e.g. one of scenarios/", "hosts")
    for override in overrides:
        _apply(document, override, positions, model)
    scenario = validated(model, document, positions)
    scenario.stands_in(positions.of_key)
    return scenario


def from_overrides(model: type[Scenario], document: dict[str, Any], what: str, overrides: Sequence[str]) -> Scenario:
    """Check a document that comes from no file, after applying the KEY=VALUE texts of --set; `what` names it in
    messages. Raises ScenarioError.
    """
    positions = _Positions(Path(what))
    for override in overrides:
        _apply(document, override, positions, model)
    return validated(model, document, positions)


def read_document(path: Path, what: str, first_key: str) -> tuple[dict[str, Any], _Positions]:
    """Return the mapping in a YAML file, and the line of each value. `what` and `first_key` say in messages what was
    expected.
    """
    positions = _Positions(path)
    try:
        document, node = yaml_text.parse(yaml_text.read(path))
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}; give {what}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not a text file; give {what}, in YAML") from error
    except yaml_text.RefusedError as error:
        line = "" if error.line is None else f":{error.line}"
        raise ScenarioError(f"{path}{line}: {error.problem}") from error
    if node is None or not isinstance(document, dict):
        raise ScenarioError(f"{path}: expected a mapping with the key {first_key!r}; see simunix schema")
    positions.walk(node)
    return document, positions


def validated(model: type[Model], document: dict[str, Any], positions: _Positions) -> Model:
    """Return the document as a model. Raises ScenarioError with the first value that is wrong."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise ScenarioError(" ".join(_message(error, positions, model).split())) from None  # a key may contain line breaks


def _apply(document: dict[str, Any], override: str, positions: _Positions, model: type[BaseModel]) -> None:
    """Apply a --set option to the document: KEY=VALUE replaces a value; KEY+=VALUE appends to a list (the elements of
    VALUE, if it is a list).
    """
    key, equals, text = override.partition("=")
    grows = key.endswith("+")
    key = key.removesuffix("+")
    if not equals or not key:
        raise ScenarioError(f"--set {override}: expected KEY=VALUE, e.g. --set network.latency=50us")
    target: Any = document
    parts = tuple(_part(word) for word in key.replace("[", ".").replace("]", "").split("."))
    for part, below in itertools.pairwise(parts):
        if isinstance(target, dict) and isinstance(part, str):
            target = target.setdefault(part, [] if isinstance(below, int) else {})
        elif isinstance(target, list) and isinstance(part, int) and part < len(target):
            target = target[part]
        else:
            raise ScenarioError(f"--set {override}: there is no {dotted(parts)} in {positions.path}")
    try:
        value = yaml_text.parse(text)[0]
        if grows:
            _append(target, parts, value, override, positions, model)
        else:
            target[parts[-1]] = value
            positions.overridden[dotted(parts)] = override
    except yaml_text.RefusedError as error:
        raise ScenarioError(f"--set {override:.60}: {error.problem}") from None
    except (TypeError, IndexError):
        raise ScenarioError(f"--set {override}: there is no {dotted(parts)} in {positions.path}") from None


def _append(target: Any, parts: Location, value: Any, override: str, positions: _Positions, model: type[BaseModel]) -> None:
    """Append a value to the list at the location `parts`; a missing list is created. Raises ScenarioError if another
    kind of value is there.
    """
    last = parts[-1]
    found = target.get(last) if isinstance(target, dict) else target[last]
    if isinstance(found, dict) and len(parts) == 1 and _may_be_one(model, str(last)):
        found = [found]
    if found is None:
        found, positions.overridden[dotted(parts)] = [], override
    if not isinstance(found, list):
        kind = "a mapping" if isinstance(found, dict) else f"{found!r:.60}"
        hint = f"set {dotted(parts)}.KEY=VALUE" if isinstance(found, dict) else f"replace it by {dotted(parts)}=VALUE"
        raise ScenarioError(f"--set {override:.200}: {dotted(parts)} is {kind} and no list, so nothing is appended; {hint}")
    for each in value if isinstance(value, list) else [value]:
        positions.overridden[dotted((*parts, len(found)))] = override
        found.append(each)
    target[last] = found


def _may_be_one(model: type[BaseModel], key: str) -> bool:
    """Return whether a key's list of sections may be written as one section, without a list."""
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    return key in fields and any(getattr(each, "func", None) is one_or_more for each in fields[key].metadata)


def _message(error: ValidationError, positions: _Positions, model: type[BaseModel]) -> str:
    """Return the first error, in the order of the model's keys, on one line."""
    first = _first(error.errors(include_url=False))
    keys = (part for part in first["loc"] if part not in CHECKS and not _is_alternative(part))
    location = positions.written(tuple(keys))
    where = positions.where(location)
    key = dotted(location)
    if first["type"] == "extra_forbidden":
        return f"{where}: {key}: unknown key; {_known_keys(location, model)}"
    if first["type"] == "missing":
        return f"{where}: {key}: missing; add it"
    text = str(first["msg"]).removeprefix("Value error, ")
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    got = "" if first["type"] == "value_error" else f", got {quoted(first['input'])}"
    return f"{where}: {key}: {text}{got}" if key else f"{where}: {text}"


def _first(errors: list[ErrorDetails]) -> ErrorDetails:
    """Return the first error. If a key allows a word or a section, and the document has a section, return the first
    error within the section.
    """
    first = errors[0]
    above, last = first["loc"][:-1], first["loc"][-1:]
    if not isinstance(first["input"], dict) or not any(map(_is_alternative, last)):
        return first
    within = (each for each in errors if each["loc"][: len(above)] == above and not _is_alternative(each["loc"][-1]))
    return next(within, first)


def _is_alternative(part: int | str) -> bool:
    """Return whether a part of a location is no key, but pydantic's name for one of the types that a value may have."""
    return isinstance(part, str) and (part.startswith("literal[") or (part[:1].isupper() and part.endswith("Section")))


def _known_keys(location: Location, top: type[BaseModel]) -> str:
    model: type[BaseModel] | None = top
    for part in location[:-1]:
        if isinstance(part, str) and model is not None:
            fields = {field.alias or name: field for name, field in model.model_fields.items()}
            model = _model_of(fields[part].annotation) if part in fields else None
    known = sorted(field.alias or name for name, field in model.model_fields.items()) if model is not None else []
    close = difflib.get_close_matches(str(location[-1]), known, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}known: {', '.join(known)}"


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """Return the section's class in an annotation such as `list[Section]`, `Section | None` or `Annotated[...]`; None
    if there is none.
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _model_of(argument)
        if found is not None:
            return found
    return None


__all__ = ["ScenarioError", "dotted", "load"]
