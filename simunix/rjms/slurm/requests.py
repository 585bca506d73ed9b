"""Make the sbatch command and the script for a job of a job table, by sbatch(1) of Slurm 22.05.

A job sleeps for its run time and ends as it ended in the trace: with its exit code or signal, by the time limit, or cancelled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rsg_server.errors import SimunixError
from simunix.rjms.adapter import Choice, TableClients, TableSubmission
from simunix.rjms.slurm.options import chosen_options
from simunix.workload.job import Job
from simunix.workload.request import Clause, Request

CANCEL = ("scancel", "--state=PENDING", "{}")
LONGEST_WORD = 128 * 1024 - 1
"""The most bytes of one argument of a program; execve(2) refuses more than MAX_ARG_STRLEN."""
ME = '"${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}"'
GRACE_S = 60
"""How many seconds a job that cancels itself waits for its end."""


def table_command(submission: TableSubmission) -> tuple[str, ...]:
    """Return the command that submits a job of a job table, an array, or a heterogeneous job."""
    first = submission.parts[0][0]
    words: list[str] = []
    for index, (job, choice) in enumerate(submission.parts):
        words += [":"] if index else []
        words += _words(job, choice)
    array = _array_words(submission.elements, first.request)
    script = _script(submission)
    if len(script.encode()) > LONGEST_WORD:
        raise SimunixError(f"job {first.id}: what the elements of its array do does not fit into a command; split the array")
    return ("sbatch", "--parsable", *array, *words, "--output=/dev/null", f"--wrap={script}")


def _words(job: Job, choice: Choice) -> Iterator[str]:
    """Yield the sbatch options of one component. The options that the scenario gives for the job come last, and so
    override others.
    """
    request = job.request
    assert request is not None
    yield f"--job-name={request.name or f'swf-{job.id}'}"
    yield from _size_words(job, request)
    for option, value in _said(request).items():
        if value not in (None, ""):
            yield f"--{option}={value}"
    if request.exclusive:
        yield from {"yes": ("--exclusive",), "no": ()}.get(request.exclusive, (f"--exclusive={request.exclusive}",))
    if request.requeue is not None:
        yield "--requeue" if request.requeue else "--no-requeue"
    if request.hold_s is not None and not choice.is_held:
        yield "--hold"
    yield from request.arguments
    yield from chosen_options(choice)


def _said(request: Request) -> dict[str, object]:
    """Return sbatch options by name, without `--`, with the values of the job table; None for an option that the table
    does not give.
    """
    return {
        "partition": request.partition,
        "account": request.account,
        "qos": request.qos,
        "constraint": request.constraints,
        "reservation": request.reservation,
        "licenses": request.licenses,
        "time": None if request.limit_s is None else limit_text(request.limit_s),
        "time-min": None if request.least_limit_s is None else limit_text(request.least_limit_s),
        "nice": request.nice,
        "begin": None if request.begin_s is None else f"now+{math.ceil(request.begin_s)}seconds",
    }


def limit_text(seconds: float) -> str:
    """Return a time limit in the form minutes:seconds. Slurm itself rounds it up to minutes."""
    if math.isinf(seconds):
        return "UNLIMITED"
    whole = math.ceil(seconds)
    return f"{whole // 60}:{whole % 60:02d}"


def told_limit_s(request: Request) -> float | None:
    """Return the time limit in seconds that Slurm uses for a job; None if it is infinite, or if Slurm takes the limit
    of the partition.
    """
    if request.limit_s is None or math.isinf(request.limit_s):
        return None
    return max(1, math.ceil(request.limit_s / 60)) * 60.0


def _size_words(job: Job, request: Request) -> Iterator[str]:
    sizes: dict[str, object] = {
        "nodes": request.nodes,
        "ntasks": request.tasks,
        "ntasks-per-node": request.tasks_per_node,
        "cpus-per-task": request.cpus_per_task,
    }
    if request.tasks is None and request.tasks_per_node is None and request.exclusive != "yes":
        sizes["ntasks"] = max(1, job.cores // (request.cpus_per_task or 1))
    yield from (f"--{option}={value}" for option, value in sizes.items() if value not in (None, ""))
    if request.memory:
        number, suffix = request.memory.rstrip("cn"), request.memory[-1]
        yield f"--mem-per-cpu={number}" if suffix == "c" else f"--mem={number}"
    if request.gres:
        yield f"--gres={request.gres}"
    elif gpus := _gpus(request.tres):
        yield f"--gpus={gpus}"


def _gpus(tres: str) -> str:
    """Return the number of GPUs of the whole job in a TRES list such as cpu=4,gres/gpu:a100=2,gres/gpu=2, which lists
    typed GPUs twice.
    """
    found = dict(part.split("=", 1) for part in tres.split(",") if part.startswith("gres/gpu") and "=" in part)
    typed = {name.partition(":")[2]: count for name, count in found.items() if ":" in name}
    if typed:
        return ",".join(f"{kind}:{count}" for kind, count in typed.items())
    return found.get("gres/gpu", "")


def _array_words(elements: Mapping[int, Job], request: Request | None) -> tuple[str, ...]:
    if not elements:
        return ()
    limit = None if request is None else request.array_limit
    return (f"--array={','.join(_folded(sorted(elements)))}{'' if limit is None else f'%{limit}'}",)


def _folded(indices: Sequence[int]) -> list[str]:
    """Return numbers as texts of ranges: 1-3, 7."""
    ranges: list[list[int]] = []
    for index in indices:
        if ranges and ranges[-1][1] == index - 1:
            ranges[-1][1] = index
        else:
            ranges.append([index, index])
    return [f"{first}" if first == last else f"{first}-{last}" for first, last in ranges]


# The script of a job


def _script(submission: TableSubmission) -> str:
    first = submission.parts[0][0]
    if not submission.elements:
        return what_it_does(first, submission.factors)
    by_text: dict[str, list[int]] = {}
    for index, job in submission.elements.items():
        by_text.setdefault(what_it_does(job, submission.factors), []).append(index)
    if len(by_text) == 1:
        return next(iter(by_text))
    cases = [f"{'|'.join(map(str, indices))}) {text};;" for text, indices in by_text.items()]
    return "case $SLURM_ARRAY_TASK_ID in\n" + "\n".join(cases) + "\nesac"


def what_it_does(job: Job, factors: str = "") -> str:
    """Return the text of the batch script. `factors` is the path of the file with the factor of run times on each node,
    in thousandths.
    """
    request = job.request
    assert request is not None
    if request.is_cut_off:
        return "exec sleep infinity"
    sleep = _sleep(job.runtime_s, factors)
    lines = [*_steps(request, factors), f"{sleep}"] if request.steps else [sleep]
    code, signal = request.exit_status
    if request.state.startswith("CANCELLED"):
        lines.append(f"me={ME}; scancel ${{me:-$SLURM_JOB_ID}}; sleep {GRACE_S}")
    elif signal and not code:
        lines.append(f"kill -{signal} $$")
    elif code:
        lines.append(f"exit {code}")
    elif not request.steps and not factors:
        return f"exec {sleep}"
    return "\n".join(lines)


def _sleep(seconds: float, factors: str) -> str:
    """Return the shell command that sleeps for the job's run time, multiplied by the largest factor among the job's
    nodes.
    """
    if not factors:
        return f"sleep {seconds:.9g}" if seconds < 1e9 else f"sleep {seconds:.0f}"
    largest = 'NR == FNR {f[$1] = $2; next} f[$1] > most {most = f[$1]} END {printf "%.3f", (most ? most : 1000) / 1000 * t}'
    return f"sleep $(scontrol show hostnames | awk -v t={seconds:.9g} '{largest}' {factors} -)"


def _steps(request: Request, factors: str) -> Iterator[str]:
    """Yield a line of shell for each job step, which starts the step in the background at its moment. The job ends
    after its own run time.
    """
    for step in request.steps:
        run = f"srun --ntasks={step.tasks} --overlap --input=none sleep {step.elapsed_s:g}"
        yield f"(sleep {step.start_s:g}; {run}) &" if step.start_s else f"{run} &"


# Dependencies


def dependency(request: Request) -> dict[str, Any]:
    """Return the conditions of a job's dependency for the submitting program, which learns the numbers of other jobs at
    their submission.
    """
    return {
        "option": "--dependency={}",
        "joint": "?" if request.is_any else ",",
        "parts": [_part(clause) for clause in request.clauses()],
    }


def _part(clause: Clause) -> dict[str, Any]:
    items = [[other.number, f"{{}}{other.rest}"] for other in clause.others]
    return {"head": f"{clause.kind}:" if items else clause.kind, "items": items}


TABLES = TableClients(
    command=table_command,
    dependency=dependency,
    cancel=CANCEL,
    limit_s=told_limit_s,
)
