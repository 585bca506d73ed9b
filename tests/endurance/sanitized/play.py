"""Plays hostile processes to a server whose C core was compiled with AddressSanitizer and UBSan.

    python -m tests.endurance.sanitized.play MODULE --seconds 600 [--seed N] [--only WORLD]

Started by `test_sanitized.py`, which compiles the module. Each world is a server without real processes, to which a few hundred
random steps happen: births, ends, messages, parks, tales of hand-offs, and values written anywhere into the shared memory. What
a process writes there may end the process, never the server. A world is repeated by its number (`--only`).
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from pathlib import Path


def load(module: Path) -> None:
    """Put a module in the place of `rsg_server._native`, before anything imports that."""
    spec = importlib.util.spec_from_file_location("rsg_server._native", module)
    assert spec is not None and spec.loader is not None
    native = importlib.util.module_from_spec(spec)
    sys.modules["rsg_server._native"] = native
    spec.loader.exec_module(native)


def main() -> int:
    """Play until the time is over; the number of each world is printed before it begins."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", type=Path)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="WORLD")
    given = parser.parse_args()
    load(given.module)
    from tests.endurance.sanitized.world import play

    if given.only is not None:
        play(given.seed, given.only)
        return 0
    end, number = time.monotonic() + given.seconds, 0
    while time.monotonic() < end:
        print(f"world {number} of seed {given.seed}", flush=True)
        play(given.seed, number)
        number += 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
