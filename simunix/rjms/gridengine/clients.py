"""The commands of Grid Engine's users: how simunix submits a job of a workload, and asks for the queue."""

from __future__ import annotations

from collections.abc import Sequence

from simunix.rjms import trace_jobs
from simunix.rjms.adapter import ByHand, Choice, Clients
from simunix.rjms.gridengine.configuration import EXCLUSIVE, PARALLEL, WHOLE
from simunix.rjms.gridengine.layout import START_RANKS
from simunix.rjms.trace_jobs import job_name, limit_s
from simunix.workload.job import Job

QSUB = "qsub"
ARRAY_MAX = 1000
NUMBER = r"^(\d+)"
"""The pattern of the job number in the output of `qsub -terse`: NUMBER, or NUMBER.FIRST-LAST:STEP for a job array."""
EVERYBODY = ("qstat", "-u", "*")
_XML = r"""qstat -u '*' -xml | sed -n 's|.*<JB_name>\(.*\)</JB_name>.*|N \1|p;s|.*<state>\(.*\)</state>.*|S \1|p"""
_XML += r""";s|.*<slots>\(.*\)</slots>.*|C \1|p;s|.*<JB_job_number>\(.*\)</JB_job_number>.*|J \1|p'"""
STATES = _XML + """ | awk '$1 == "N" { name = $2 } $1 == "S" { state = $2 } $1 == "C" { print name "|" state "|" $2 }'"""
ENDED = ("sh", "-c", "date -d \"$(qacct -j {} | sed -n 's/^end_time *//p' | tail -n 1)\" +end=%Y-%m-%dT%H:%M:%S")


def submit_command(job: Job, choice: Choice | None = None) -> tuple[str, ...]:
    """Return the qsub command of a job. The job runs `sleep` for its run time, or its own script."""
    choice = choice or Choice(QSUB)
    limit = limit_s(job)
    words = [QSUB, "-terse", "-b", "y", "-shell", "n", "-N", job_name(job.id), *_size(job)]
    if limit is not None:
        words += ["-l", f"h_rt={limit:g}"]
    words += _chosen(choice)
    if job.work is None:
        return (*words, "-o", "/dev/null", "-e", "/dev/null", "/bin/sleep", f"{job.runtime_s:g}")
    return (*words, "-j", "y", "-o", job.work.output, job.work.script)


def _size(job: Job) -> list[str]:
    """Return the words for a job's size: slots that fill one node after the other, or whole nodes with one slot each. A
    job on one core needs no parallel environment.
    """
    if job.work is not None and job.work.on_nodes:
        return ["-pe", WHOLE, str(job.work.ranks), "-l", f"{EXCLUSIVE}=TRUE"]
    return ["-pe", PARALLEL, str(job.cores)] if job.cores > 1 else []


def _chosen(choice: Choice) -> list[str]:
    """Return the qsub options for a choice: a partition is a queue, an account is an account string (-A). The
    scenario's own arguments come last.
    """
    words = [word for option, value in (("-q", choice.partition), ("-A", choice.account)) if value for word in (option, value)]
    if choice.nice is not None or choice.priority is not None:
        words += ["-p", str(choice.priority if choice.nice is None else -choice.nice)]
    return [*words, *(["-h"] if choice.is_held else []), *choice.arguments]


def array_words(count: int) -> tuple[str, ...]:
    """Return the qsub options that submit a job as an array of `count` elements."""
    return ("-t", f"1-{count}")


def find_held(names: Sequence[str]) -> str:
    """Return a shell command that prints the numbers of the held jobs with these names, in the order of their
    submission.
    """
    rules = '$1 == "J" { number = $2 } $1 == "N" { name = $2 } $1 == "S" && $2 ~ /h/ && name in known { print number }'
    return trace_jobs.find_held(_XML, rules, names)


CLIENTS = Clients(
    names=(QSUB,),
    staying=frozenset(),
    command=submit_command,
    job_name=job_name,
    named=job_name,  # behind -N
    limit_s=limit_s,
    number=NUMBER,
    after=("-hold_jid", "{}"),
    array=array_words,
    array_max=ARRAY_MAX,
    first_index=1,
    launch=(START_RANKS,),
    log_name="$JOB_NAME-$JOB_ID",
    queue=EVERYBODY,
    unfinished=("sh", "-c", "qstat -g d -u '*' | awk 'NR > 2 { print $1; print $1 \"_\" $NF }'"),
    ended=ENDED,
    end_pattern=r"end=(\S+)",
    release=("qrls", "{}"),
    states=STATES,
    running="r",
    pending="hqw",
    find_held=find_held,
    release_all=("qrls",),
    number_variable="JOB_ID",
    by_hand=ByHand(
        hint="qsub -b y sleep 600 · qstat -u '*' · qdel 1", job={"cancel": "qdel {}"}, cluster={"queue": "qstat -u '*'"}
    ),
)
