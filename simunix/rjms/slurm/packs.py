"""Run packs of jobs (sets that begin together), or list scheduling, on a real Slurm, after Vidal's thesis.

    python3 -m simunix.rjms.slurm.packs JOBS.csv --partitions io1,io2 --processors 64 --bandwidth 1000 -- COMMAND

The script runs where sbatch does, on a real or emulated cluster. There is one partition for each I/O node. Jobs are
submitted held. A pack is released on a free partition; when all jobs of the pack have ended, the next pack is released.
With --list, jobs are not held. Each job asks for its average part of the disk as licences (`io`; --licences gives their
number), and Slurm starts it when processors and licences are free. A job runs COMMAND, in which {number}, {compute},
{bytes} and {phases} are replaced by the job's own. At the end the script prints the makespan: last end − first release.
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from simunix.io_coordinator.packs import UNLIMITED, JobsError, Pack, PeriodicJob, longest_first, make_packs, read_jobs

LICENCE = "io"


def _slurm(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _submit(job: PeriodicJob, partition: str, command: str, *more: str) -> str:
    """Submit a job; return its Slurm job number."""
    own = {"number": job.number, "compute": job.compute_s, "bytes": job.size_bytes, "phases": job.phases}
    text = command.format(**own)
    words = ("sbatch", "--parsable", f"--partition={partition}", f"--ntasks={job.processors}", "--output=/tmp/packs-%j.out")
    return _slurm(*words, f"--job-name=app{job.number}", *more, f"--wrap={text}").strip()


def _watch(names: Sequence[str], partition: str) -> subprocess.Popen[bytes]:
    """Return a process that ends when all of these jobs have ended. Slurm starts it by a job dependency, so nothing
    polls.
    """
    words = ("srun", "--quiet", "--ntasks=1", "--job-name=packs", f"--partition={partition}")
    return subprocess.Popen([*words, f"--dependency=afterany:{':'.join(names)}", "true"])


def run_packs(packs: Sequence[Pack], partitions: Sequence[str], command: str) -> float:
    """Run packs, the longest first, each on the first free partition. Return the seconds from the first release to the
    last end.
    """
    numbers = {job.number: _submit(job, partitions[0], command, "--hold") for pack in packs for job in pack.jobs}
    left, free = longest_first(packs), list(partitions)
    running: dict[int, tuple[subprocess.Popen[bytes], str]] = {}
    begin = time.monotonic()
    while left or running:
        while left and free:
            partition, names = free.pop(0), [numbers[job.number] for job in left.pop(0).jobs]
            for name in names if partition != partitions[0] else ():
                _slurm("scontrol", "update", f"JobId={name}", f"Partition={partition}")
            _slurm("scontrol", "release", ",".join(names))
            watcher = _watch(names, partition)
            running[watcher.pid] = (watcher, partition)
        ended, _ = os.wait()
        free.append(running.pop(ended)[1])
    return time.monotonic() - begin


def run_list(jobs: Sequence[PeriodicJob], partitions: Sequence[str], command: str, bandwidth: float, licences: int) -> float:
    """Let Slurm start each job when enough processors and licences are free. Return the seconds from the first
    submission to the last end.
    """
    begin = time.monotonic()
    asked = [(job, max(1, math.ceil(job.share(bandwidth) * licences - 1e-9))) for job in jobs]
    names = [_submit(job, ",".join(partitions), command, f"--licenses={LICENCE}:{count}") for job, count in asked]
    _watch(names, partitions[0]).wait()
    return time.monotonic() - begin


def main(words: Sequence[str] | None = None) -> int:
    """Run the jobs of the command line to their end; return the exit code."""
    parser = argparse.ArgumentParser(prog="python3 -m simunix.rjms.slurm.packs", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("jobs", type=Path, help="CSV file: number, processors, compute (s), bytes, phases")
    parser.add_argument("--partitions", required=True, help="one for each I/O node")
    parser.add_argument("--processors", type=int, required=True, help="of one partition")
    parser.add_argument("--bandwidth", type=float, required=True, help="bytes/s of each I/O node's disk")
    parser.add_argument("--limit", type=float, default=UNLIMITED, help="load of a pack (S); default: none, First-Fit")
    parser.add_argument("--list", action="store_true", help="list scheduling by licences instead of packs")
    parser.add_argument("--licences", type=int, default=100, help="how many licences slurm.conf has of `io`")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(words)
    partitions, command = options.partitions.split(","), shlex.join(options.command)
    try:
        jobs = read_jobs(options.jobs)
        if options.list:
            took_s = run_list(jobs, partitions, command, options.bandwidth, options.licences)
        else:
            packs = make_packs(jobs, options.processors, options.bandwidth, options.limit)
            print("packs", *(",".join(str(job.number) for job in pack.jobs) for pack in longest_first(packs)))
            took_s = run_packs(packs, partitions, command)
    except (JobsError, OSError) as error:
        print(f"packs: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"packs: {shlex.join(error.cmd)}: {error.stderr.strip()}", file=sys.stderr)
        return 1
    print(f"makespan {took_s:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
