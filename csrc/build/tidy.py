"""Runs clang-tidy over csrc, with the checks of .clang-tidy and the flags that each folder is built with.

python csrc/build/tidy.py [FILE...]        all of csrc (a minute), or these files
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from build_shim import CSRC, include_paths

SHIM = ["-ffreestanding", "-mgeneral-regs-only", *include_paths()]
FLAGS = {
    "hostinit": [],
    "jobs": ["-D_GNU_SOURCE", f"-I{CSRC / 'shared'}"],
    "network": [],
    "server": [],
    "shared": SHIM,
    "shim": SHIM,
    "turn": [f"-I{CSRC}"],
}


def main(names: list[str]) -> int:
    """How many folders have findings; clang-tidy prints them."""
    wanted = {Path(name).resolve() for name in names}
    bad = 0
    for folder, flags in FLAGS.items():
        files = [path for path in sorted((CSRC / folder).rglob("*.c")) if not wanted or path in wanted]
        if files:
            tidy = Path(sys.executable).with_name("clang-tidy")
            bad += subprocess.run([tidy, "--quiet", *files, "--", "-std=gnu11", *flags], check=False).returncode != 0
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
