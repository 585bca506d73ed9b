"""A parser that keeps its arguments, for commands that write into their output how the output was made."""

from __future__ import annotations

import argparse
from typing import Any


class RecordingParser(argparse.ArgumentParser):
    """A parser that puts the arguments which it parses, as they were typed, into the namespace as `arguments`."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, and record the arguments."""
        parsed, rest = super().parse_known_args(args, namespace)
        parsed.arguments = list(args or ())
        return parsed, rest
