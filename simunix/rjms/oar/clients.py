"""Commands of OAR's users: how a job of a workload is submitted, how the queue is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from simunix.rjms import trace_jobs
from simunix.rjms.adapter import Choice, Clients
from simunix.rjms.oar.layout import START_RANKS
from simunix.rjms.trace_jobs import job_name, limit_s
from simunix.workload.job import Job

OARSUB = "oarsub"
NO_LIMIT = "8760:00:00"
"""A year: OAR gives two hours to a job that asks for no walltime, and has no word for a job without one."""
DIRECTORY = "/tmp"
"""Where jobs begin: oarsub would take the shell's PWD, and nobody's shell submits the jobs of a trace."""
ARRAY_MAX = 1000
NUMBER = r"OAR_JOB_ID=(\d+)"
"""Of an array, oarsub prints the number of each job, the first of which is that of the array."""
_JOBS = "oarstat -f | sed -n 's/^Job_Id: /I /p;s/^    name = /N /p;s/^    state = /S /p;s/^    job_array_id = /A /p"
_JOBS += ";s/^    job_array_index = /X /p;s/^    wanted_resources = /W /p'"
"""Of each job that has not ended: number, array, index, name, state and request, in this order."""
STATES = f"""{_JOBS} | awk '$1 == "N" {{ name = $2 }} $1 == "S" {{ state = $2 }}""" + (
    """ $1 == "W" { cores = $0; sub(/.*core=/, "", cores); print name "|" state "|" cores + 0 }'"""
)
UNFINISHED = ("sh", "-c", f"""{_JOBS} | awk '$1 == "I" {{ print $2 }} $1 == "A" {{ a = $2 }} $1 == "X" {{ print a "_" $2 }}'""")
ENDED = (
    "sh",
    "-c",
    "job={}; array=${job%_*}; index=${job#$array}; index=${index#_}; oarstat -f --array $array | "
    """awk -v own=${index:-1} '$1 == "job_array_index" { index_ = $3 } """
    """$1 == "stopTime" && index_ == own { print "end=" $3 "T" $4 }'""",
)


def submit_command(job: Job, choice: Choice | None = None) -> tuple[str, ...]:
    """Return the oarsub of a job: a sleep for its run time, or the job's script."""
    words = [OARSUB, "-n", job_name(job.id), "-d", DIRECTORY, "-l", f"{_size(job)},walltime={_walltime(job)}"]
    words += _chosen(choice or Choice(OARSUB))
    if job.work is None:
        return (*words, "-O", "/dev/null", "-E", "/dev/null", f"/bin/sleep {job.runtime_s:g}")
    command = f"env RANKS_ON=hosts {job.work.script}" if job.work.on_nodes else job.work.script
    log = job.work.output.replace("%jobname%", job_name(job.id))
    return (*words, "-O", log, "-E", log, command)


def _size(job: Job) -> str:
    """Return so many cores, wherever they are free; or all cores of so many nodes."""
    if job.work is not None and job.work.on_nodes:
        return f"/host={job.work.ranks}"
    return f"/core={job.cores}"


def _walltime(job: Job) -> str:
    limit = limit_s(job)
    if limit is None:
        return NO_LIMIT
    minutes, seconds = divmod(round(limit), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def _chosen(choice: Choice) -> list[str]:
    """Return the words for a choice: a partition is a queue, an account a project; those that the scenario gives come
    last.
    """
    pairs = (("-q", choice.partition), ("--project", choice.account))
    words = [word for option, value in pairs if value for word in (option, value)]
    return [*words, *(["--hold"] if choice.is_held else []), *choice.arguments]


def array_words(count: int) -> tuple[str, ...]:
    """Return the words that submit a job so many times."""
    return ("--array", str(count))


def find_held(names: Sequence[str]) -> str:
    """Return a shell command that prints the numbers of the held jobs of these names, in the order of their submission."""
    rules = '$1 == "I" { number = $2 } $1 == "N" { name = $2 } $1 == "S" && $2 == "Hold" && name in known { print number }'
    return trace_jobs.find_held(_JOBS, rules, names)


CLIENTS = Clients(
    names=(OARSUB,),
    staying=frozenset(),
    command=submit_command,
    job_name=job_name,
    named=job_name,  # behind -n
    limit_s=limit_s,
    number=NUMBER,
    after=("-a", "{}"),
    array=array_words,
    array_max=ARRAY_MAX,
    first_index=1,
    launch=(START_RANKS,),
    log_name="%jobname%-%jobid%",
    queue=("oarstat",),
    unfinished=UNFINISHED,
    ended=ENDED,
    end_pattern=r"end=(\S+)",
    release=("oarresume", "--array", "{}"),
    states=STATES,
    running="Running",
    pending="Hold",
    find_held=find_held,
    release_all=("oarresume",),
    number_variable="OAR_JOB_ID",
)
