"""The demo: virtual seconds per wall second, and wall time over the CPU time of everything that is not simunix's server.

    python benchmarks/demo.py

All run on one core that is never idle, so the emulated daemons and clients (the shim inside them) used what the server did not.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Run the demo once and print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "demo"
        scenario = ROOT / "scenarios" / "nasa-ipsc.yaml"
        command = [sys.executable, "-m", "simunix.cli.main", "run", str(scenario), "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        record = json.loads((out / "run.json").read_text())
    others = record["wall_s"] - record["server_cpu_s"]
    print(f"virtual seconds per wall second       {record['virtual_s'] / record['wall_s']:10.0f}")
    print(f"wall time (s)                         {record['wall_s']:10.1f}")
    print(f"server's CPU time (s)                 {record['server_cpu_s']:10.1f}")
    print(f"wall time / CPU of daemons, clients   {record['wall_s'] / others:10.2f}")
    print(f"turns through the server              {record['turns']:10,}")
    print(f"sleeps without a message              {record['counts']['local_sleeps']:10,}")


if __name__ == "__main__":
    main()
