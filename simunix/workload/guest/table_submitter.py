"""Submit the jobs of a job table. The program runs inside of an emulation beside submitter.py, and has the same plan
and output.

A job of the plan may have these additional keys:

    "indices"     the indices of the elements that "array" has the ids of: any, in the order of the ids
    "components"  ids of the components of a heterogeneous job: numbers count on from the job's own
    "key"         the number by which dependencies of other jobs mean this one
    "clauses"     {"option", "joint", "parts": [{"head", "items": [[key, text with {} for the number], ...]}, ...]}: the
                  dependency. The job is submitted when all of these have their numbers. Of jobs that were refused, or are not
                  in the plan, none is waited for: the condition is left out, and the message says so
    "cancel"      seconds after which "cancel" of the plan, with the job's number for {}, is run
"""

from __future__ import annotations

import heapq
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    # python3 -I does not add the folder of the program to the path
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
if TYPE_CHECKING or __name__ != "__main__":
    from simunix.workload.guest.submitter import RELEASE, SUBMIT, Flushed, Submitter, filled, run, wait_until_empty
else:
    from submitter import RELEASE, SUBMIT, Flushed, Submitter, filled, run, wait_until_empty

CANCEL = "cancel "
"""The prefix of a job's number that says that the job is to be cancelled, not released."""


class TableSubmitter(Submitter):
    """Submits job arrays with any indices, heterogeneous jobs, and jobs that depend on others."""

    def __init__(self, plan: dict[str, Any], writer: Flushed) -> None:
        super().__init__(plan, writer)
        self.keys = {job["key"] for job in self.jobs}
        self.number_of: dict[int, str] = {}
        """The RJMS's numbers of submitted jobs by key; "" for refused jobs."""
        self.waiting: dict[int, list[int]] = {}
        """The indices in the plan of jobs that are due, by the key of a job that has not been submitted yet."""

    def submit(self, due: float, rank: int) -> None:
        """Submit the job at `rank` in the plan, if the jobs on which it depends have been submitted."""
        job = self.jobs[rank]
        clauses = job.get("clauses")
        for part in clauses["parts"] if clauses else ():
            for key, _ in part["items"]:
                if key in self.keys and key not in self.number_of:
                    self.waiting.setdefault(key, []).append(rank)
                    return
        words, dropped = self.condition(clauses) if clauses else ([], "")
        argv = [job["argv"][0], *words, *job["argv"][1:]]
        moment = self.now()
        done = run(argv, **self.identity(job))
        found = re.search(self.plan["number"], done.stdout) if done.returncode == 0 else None
        number = found[1] if found else ""
        message = dropped if number else " ".join((done.stderr or done.stdout).split())
        for id, own in self.numbers_of(job, number):
            self.writer.writerow([id, f"{due:.6f}", f"{moment:.6f}", done.returncode, own, message])
            self.submitted(id, own)
        self.number_of.setdefault(job["key"], number)
        for other in self.waiting.pop(job["key"], []):
            heapq.heappush(self.due, (self.now(), other, SUBMIT, ""))
        for word, prefix in (("hold", ""), ("cancel", CANCEL)):
            if number and word in job:
                heapq.heappush(self.due, (moment + job[word], rank, RELEASE, f"{prefix}{number}"))
        for index, after in job.get("cancel_elements", ()) if number else ():
            heapq.heappush(self.due, (moment + after, rank, RELEASE, f"{CANCEL}{number}_{index}"))

    def condition(self, clauses: dict[str, Any]) -> tuple[list[str], str]:
        """Return the words for a dependency, and a message about conditions that had to be left out."""
        parts, dropped = [], []
        for part in clauses["parts"]:
            items = [text.replace("{}", self.number_of[key]) for key, text in part["items"] if self.number_of.get(key)]
            dropped += [str(key) for key, _ in part["items"] if not self.number_of.get(key)]
            if items or not part["items"]:
                parts.append(part["head"] + ":".join(items))
        words = [clauses["option"].replace("{}", clauses["joint"].join(parts))] if parts else []
        return words, f"depends on {', '.join(dropped)}, not submitted: left out" if dropped else ""

    @staticmethod
    def numbers_of(job: dict[str, Any], number: str) -> list[tuple[int, str]]:
        """Return the number of each job that a command has submitted, by id; "" for refused jobs."""
        if "indices" in job:
            return [(id, number and f"{number}_{index}") for id, index in zip(job["array"], job["indices"])]  # noqa: B905  Python 3.9
        if "components" in job:
            return [(id, number and str(int(number) + place)) for place, id in enumerate(job["components"])]
        return [(job["id"], number)]

    def release(self, number: str) -> None:
        """Release a held job, or cancel a job that still waits."""
        if not number.startswith(CANCEL):
            super().release(number)
            return
        done: subprocess.CompletedProcess[str] = run(filled(self.plan["cancel"], number[len(CANCEL) :]))
        if done.returncode != 0:
            print(f"job {number[len(CANCEL) :]} could not be cancelled:", done.stderr.strip(), file=sys.stderr, flush=True)


def main(plan_path: str, out_path: str) -> None:
    """Submit all jobs of the plan, then wait until the queue is empty."""
    with open(plan_path) as file:
        plan = json.load(file)
    with open(out_path, "w", newline="") as file:
        writer = Flushed(file)
        writer.writerow(["id", "planned_s", "submitted_s", "exit_code", "job_number", "message"])
        TableSubmitter(plan, writer).run()
    wait_until_empty(plan["poll"])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
