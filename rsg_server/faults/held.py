"""Changes of hosts and links that hold for a while, and which values come back when a change ends. The latest change of
a value decides.

A change that is made for good ends all earlier changes of its value. If a change ends while a later change of the same
value holds, the value stays as it is. The end of the later change then gives back what the end of the earlier change
would have given back. Invariant: `_held` contains, for each value, the changes that hold for a while and have not
ended, in the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

SUBJECT = ("host", "process", "storage", "link", "one", "other")
"""The fields of a change that say what is changed (a host, a link, a storage); all other fields are new values."""
Key = tuple[type, tuple[object, ...], str]
"""A value that changes: the kind of change, its subject, and the name of the field."""


def values_of(change: Any, kind: type | None = None) -> dict[Key, Any]:
    """Return the values that a change sets. A change without values, such as the end of a partition, counts as one value."""
    names = [field.name for field in fields(change)]
    subject = tuple(getattr(change, name) for name in names if name in SUBJECT)
    kind = kind or type(change)
    found = {(kind, subject, name): getattr(change, name) for name in names if name not in SUBJECT}
    return {key: value for key, value in found.items() if value is not None} or {(kind, subject, ""): change}


def changes_of(values: dict[Key, Any]) -> list[Any]:
    """The changes that set values, one for each subject."""
    grouped: dict[tuple[type, tuple[object, ...]], dict[str, Any]] = {}
    for (kind, subject, name), value in values.items():
        grouped.setdefault((kind, subject), {})[name] = value
    return [_change(kind, subject, given) for (kind, subject), given in grouped.items()]


def _change(kind: type, subject: tuple[object, ...], given: dict[str, Any]) -> Any:
    if "" in given:
        return given[""]
    names = [field.name for field in fields(kind) if field.name in SUBJECT]
    return kind(**dict(zip(names, subject, strict=True)), **given)


class Held:
    """The values that come back at the end of each change that holds for a while."""

    def __init__(self) -> None:
        self._held: dict[Key, list[tuple[int, Any]]] = {}  # the number of a change, and the value that held before the change
        self._count = 0

    def replace(self, keys: Iterable[Key]) -> None:
        """Note that values have been changed for good, so that no earlier change gives them back."""
        for key in keys:
            self._held.pop(key, None)

    def replace_all(self, kind: type) -> None:
        """Note that all values of a kind of change have been changed for good."""
        self.replace([key for key in self._held if key[0] is kind])

    def begin(self, before: dict[Key, Any]) -> int:
        """Note that values have been changed for a while, and what they were before; return the number of the change."""
        self._count += 1
        for key, value in before.items():
            self._held.setdefault(key, []).append((self._count, value))
        return self._count

    def end(self, number: int) -> dict[Key, Any]:
        """End the change with a number; return the values that come back."""
        found: dict[Key, Any] = {}
        for key, changes in list(self._held.items()):
            place = next((place for place, (other, _) in enumerate(changes) if other == number), None)
            if place is None:
                continue
            _, value = changes.pop(place)
            if place == len(changes):
                found[key] = value
            else:
                changes[place] = (changes[place][0], value)
            if not changes:
                del self._held[key]
        return found
