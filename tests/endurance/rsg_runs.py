"""Many runs of one program of Remote SimGrid with many actors: all have one digest.

`python -m tests.endurance.rsg_runs --count 200` runs it so often; odd runs have no boxes in shared memory, since the program
may not have as much address space: their operations go over channels.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.conftest import ROOT

PLATFORM = ROOT / "benchmarks/rsg_actors.xml"
SCRIPT = ROOT / "benchmarks/rsg_actors.py"
ACTORS, ROUNDS = 60, 6
SPACE_KIB = {"boxes": 4_000_000, "channels": 250_000}
"""The address space of the program, by the way that its operations take: the boxes of all slots take 256 MiB."""


def digest(folder: Path, way: str = "boxes") -> str:
    """The digest of one run. The limit stands in a file: the log has the command, which is to be one and the same."""
    limits, out = folder / "limits.sh", folder / "run"
    limits.write_text(f'ulimit -s 512\nulimit -v {SPACE_KIB[way]}\nMALLOC_ARENA_MAX=1 exec "$@"\n')
    load = (sys.executable, str(SCRIPT), str(PLATFORM), "simunix", "random", str(ACTORS), str(ROUNDS))
    simunix = (sys.executable, "-m", "simunix.cli.main", "rsg", "run", "--out", str(out), str(PLATFORM), "--")
    command = (*simunix, "sh", str(limits), *load)
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = str(json.loads((out / "run.json").read_text())["events_sha256"])
    shutil.rmtree(out)
    return found


def main() -> None:
    """Make the runs, and print how many have which digest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    count = parser.parse_args().count
    digests: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            digests[digest(Path(folder), "channels" if number % 2 else "boxes")] += 1
    for found, times in digests.items():
        print(f"{times} of {count} runs: {found}")
    sys.exit(len(digests) != 1)


if __name__ == "__main__":
    main()
