"""Print the event-log digests of six runs: a change of simunix that is meant to change no behaviour leaves all six
digests equal.

    python benchmarks/digests.py                        # what this checkout gives
    python benchmarks/digests.py --against ../other     # beside what another checkout gives, on this computer, today
    python benchmarks/digests.py toy batsim             # only these runs

A digest depends on the scenario, the seed and the builds of the programs that run inside (the daemons, libc, Python), not on
the load of the computer: compare two checkouts on one computer only. Both checkouts must be set up (`make setup`). Two of the
runs need what `make setup` does not install: `accounting` slurmdbd and MariaDB, `two-releases` two root file systems.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRATCH = Path("/tmp/simunix-digests")
"""The fixed folder in which all runs are made, because the event log contains the paths of programs and of the run
directory.
"""
RUNS: dict[str, list[str]] = {
    "toy": ["benchmarks/digests/toy.yaml"],
    "batsim": ["scenarios/batsim.yaml"],
    "mixed-faults": ["benchmarks/digests/mixed-faults.yaml"],
    "accounting": ["scenarios/accounting.yaml"],
    "two-releases": ["scenarios/two-releases.yaml", "--until", "3h"],
    "demo": ["scenarios/nasa-ipsc.yaml"],
}


def compile_toys() -> None:
    """Compile the toy programs of this checkout. The runs of both checkouts use these programs, so that both run equal
    binaries.
    """
    (SCRATCH / "bin").mkdir(parents=True)
    for name in ("mixed", "rough", "steps", "relay"):
        source = ROOT / "tests/system/programs" / f"{name}.c"
        subprocess.run(["gcc", "-O1", "-pthread", "-o", SCRATCH / "bin" / name, source], check=True)


def digest(checkout: Path, words: list[str]) -> str:
    """Run a scenario of this checkout with the simunix of `checkout`. Return the digest of the event log, or, if the
    run fails, the last line of its error message.
    """
    out = SCRATCH / "run"
    shutil.rmtree(out, ignore_errors=True)
    simunix = checkout / ".venv/bin/simunix"
    if not simunix.exists():
        raise SystemExit(f"{simunix}: not there; run `make setup` in {checkout}")
    environment = {"PATH": os.defpath + ":/usr/sbin:/sbin", "HOME": str(Path.home()), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [simunix, "run", ROOT / words[0], *words[1:], "--out", out],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    record = json.loads((out / "run.json").read_text())
    return str(record["events_sha256"]) if record["deterministic"] else "not deterministic"


def main() -> int:
    """Print a line for each run. Return the exit code: 1 if any digest differs between the two checkouts, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"which runs (default: all of {', '.join(RUNS)})")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="a checkout of another version, set up as well")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.runs if name not in RUNS]
    if unknown:
        parser.error(f"{unknown[0]}: no such run; known: {', '.join(RUNS)}")
    shutil.rmtree(SCRATCH, ignore_errors=True)
    differ = 0
    try:
        compile_toys()
        for name in arguments.runs or RUNS:
            here = digest(ROOT, RUNS[name])
            line = f"{name:14} {here[:64]}"
            if arguments.against is not None:
                there = digest(arguments.against.resolve(), RUNS[name])
                differ += here != there
                line += "  the same in both" if here == there else f"  DIFFERS: {there[:64]}"
            print(line, flush=True)
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)
    return min(differ, 1)


if __name__ == "__main__":
    sys.exit(main())
