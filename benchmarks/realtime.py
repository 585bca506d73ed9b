"""Print, for each of the thirty jobs of `simunix bench thirty-jobs`, when the job started in real time and when it
started in the emulation.

python benchmarks/realtime.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # the checkout: simunix_bench is not installed

from simunix.launch.interrupts import Interrupts  # noqa: E402
from simunix_bench.context import Context, MeasurementError  # noqa: E402
from simunix_bench.thirty_jobs import side_by_side  # noqa: E402


def main() -> None:
    """Run the thirty jobs in both ways; print a line for each job, then the wall times of both runs."""
    with Interrupts() as interrupts, tempfile.TemporaryDirectory() as folder:
        try:
            started, real_s, emulated_s = side_by_side(Context(Path(folder), False, interrupts, lambda text: None))
        except MeasurementError as error:
            sys.exit(f"not measured: {error}")
    print("job  cores  run time  start in real time  start emulated")
    for each in started:
        job = each.job
        print(f"{job.id:3} {job.cores:6} {job.runtime_s:9} {each.real_s:19.0f} {each.emulated_s:15.0f}")
    print(f"wall time (s): real {real_s:.1f}, emulated {emulated_s:.1f}")


if __name__ == "__main__":
    main()
