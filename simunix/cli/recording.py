"""A parser that remembers the words it was given, for commands that write down how their output was made."""

from __future__ import annotations

import argparse
from typing import Any


class RecordingParser(argparse.ArgumentParser):
    """Leaves its own words, as they were typed, in the namespace's `words`."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's."""
        parsed, rest = super().parse_known_args(args, namespace)
        parsed.words = list(args or ())
        return parsed, rest
