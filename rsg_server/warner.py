"""Warns the user while a run goes on; each warning is shown once."""

from __future__ import annotations

from rsg_server.observers import Observers


class Warner:
    """Shows warnings and counts how often each was given. What shows them to the user is an observer of `on_warning`."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}  # how often each warning was given, by its text, or by what it is `about`
        self.on_warning: Observers[str] = Observers()

    def warn(self, text: str, about: str | None = None) -> None:
        """Show the user a warning, unless it was shown before, and count it.

        Of all warnings that are `about` one thing, only the first is shown.
        """
        key = about or text
        first = key not in self.counts
        self.counts[key] = self.counts.get(key, 0) + 1
        if first:
            self.on_warning.tell(text)
