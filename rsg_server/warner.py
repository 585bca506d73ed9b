"""The way to the user while a run goes on: warnings, each shown once."""

from __future__ import annotations

from rsg_server.observers import Observers


class Warner:
    """Warns, and counts how often there was reason to. Those who show warnings observe `on_warning`."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}  # by text, or by what the warnings are about
        self.on_warning: Observers[str] = Observers()

    def warn(self, text: str, about: str | None = None) -> None:
        """Show the user a warning, once (or once of all that are `about` one thing), and count the others."""
        key = about or text
        first = key not in self.counts
        self.counts[key] = self.counts.get(key, 0) + 1
        if first:
            self.on_warning.tell(text)
