"""Warns the user while a run goes on; each warning is shown once."""

from __future__ import annotations

from rsg_server.observers import Observers


class Warner:
    """Shows warnings and counts how often each was given. The observers of `on_warning` show the warnings to the user."""

    def __init__(self) -> None:
        # how often each warning was given, by its text, or by the subject (`about`) of the warning
        self.counts: dict[str, int] = {}
        self.on_warning: Observers[str] = Observers()

    def warn(self, text: str, about: str | None = None) -> None:
        """Show the user a warning, unless it was shown before, and count it.

        Of all warnings with one subject (`about`), only the first is shown.
        """
        key = about or text
        first = key not in self.counts
        self.counts[key] = self.counts.get(key, 0) + 1
        if first:
            self.on_warning.tell(text)
