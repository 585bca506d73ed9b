"""A parser of arguments that records them, for operations that write into their output the command line that made it."""

from __future__ import annotations

import argparse
from typing import Any


class RecordingParser(argparse.ArgumentParser):
    """A parser that records its arguments, as they were typed, as `arguments` of the namespace."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments as argparse does, and keep the words as typed in the attribute `arguments` of the namespace."""
        parsed, rest = super().parse_known_args(args, namespace)
        parsed.arguments = list(args or ())
        return parsed, rest
