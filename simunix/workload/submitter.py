"""Submits a workload from inside an emulation; run there as a program of its own, with the standard library only.

    python3 submitter.py PLAN.json SUBMISSIONS.csv

The plan: {"origin": epoch seconds, "jobs": [{"id", "at" (seconds after the origin), "argv": [...]}, ...], "poll": [argv]}.
Each job is submitted at its absolute moment by running its command, whose first word of output is the job's number. Afterwards
`poll` is run at growing intervals until it prints nothing: the queue is empty.
"""

import csv
import json
import subprocess
import sys
import time

FIRST_POLL_S = 5.0
LAST_POLL_S = 60.0


def submit(job: dict, origin: float) -> list:  # type: ignore[type-arg]
    """Wait for the job's moment and run its command; a row of SUBMISSIONS.csv."""
    wait = origin + job["at"] - time.time()
    if wait > 0:
        time.sleep(wait)
    moment = time.time()
    done = subprocess.run(job["argv"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    words = done.stdout.split()
    number = words[0].split(";")[0] if done.returncode == 0 and words else ""
    message = "" if number else " ".join((done.stderr or done.stdout).split())
    return [job["id"], f"{job['at']:.6f}", f"{moment - origin:.6f}", done.returncode, number, message]


def wait_until_empty(poll: list) -> None:  # type: ignore[type-arg]
    """Ask for the queue until it is empty."""
    pause = FIRST_POLL_S
    while True:
        done = subprocess.run(poll, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode == 0 and not done.stdout.strip():
            return
        time.sleep(pause)
        pause = min(2 * pause, LAST_POLL_S)


def main(plan_path: str, out_path: str) -> None:
    """Submit everything, then wait."""
    with open(plan_path) as file:
        plan = json.load(file)
    with open(out_path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "planned_s", "submitted_s", "exit_code", "job_number", "message"])
        for job in plan["jobs"]:
            writer.writerow(submit(job, plan["origin"]))
            file.flush()
    wait_until_empty(plan["poll"])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
