"""Changes that hold for a while, and what comes back when they end: of each value, the latest change holds.

A change that is made for good puts an end to all earlier ones of its value. Of changes that hold for a while, one that ends
under a later one leaves the value alone, and the later one gives back what the earlier one would have given back. Invariant:
`_held` has, for each value, the changes for a while that have not ended, in the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

SUBJECT = ("host", "process", "storage", "link", "one", "other")
"""Fields of a change that say what is changed; the others say what becomes of it."""
Key = tuple[type, tuple[object, ...], str]
"""A value that changes: the kind of change, its subject, and the name of the field."""


def values_of(change: Any, kind: type | None = None) -> dict[Key, Any]:
    """The values that a change sets; of one without values, such as the end of a partition, the change itself is one."""
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
    """What the changes that hold for a while give back, each when it ends."""

    def __init__(self) -> None:
        self._held: dict[Key, list[tuple[int, Any]]] = {}  # the number of a change, and the value from before it
        self._count = 0

    def replace(self, keys: Iterable[Key]) -> None:
        """These values have been changed for good."""
        for key in keys:
            self._held.pop(key, None)

    def replace_all(self, kind: type) -> None:
        """All values of a kind of change have been changed for good."""
        self.replace([key for key in self._held if key[0] is kind])

    def begin(self, before: dict[Key, Any]) -> int:
        """Values have been changed for a while, which were these before; returns the number of this change."""
        self._count += 1
        for key, value in before.items():
            self._held.setdefault(key, []).append((self._count, value))
        return self._count

    def end(self, number: int) -> dict[Key, Any]:
        """The change of this number ends; returns the values that come back."""
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
