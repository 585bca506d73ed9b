"""The commands of OAR's users: how simunix submits a job of a workload, and asks for the queue."""

from __future__ import annotations

from collections.abc import Sequence

from simunix.rjms import trace_jobs
from simunix.rjms.adapter import ByHand, Choice, Clients
from simunix.rjms.oar.layout import START_RANKS
from simunix.rjms.trace_jobs import job_name, limit_s
from simunix.workload.job import Job

OARSUB = "oarsub"
NO_LIMIT = "8760:00:00"
"""The walltime of a job without a limit: a year. OAR has no word for such a job, and gives two hours to a job without a
walltime.
"""
DIRECTORY = "/tmp"
"""The working folder of jobs. Without it, oarsub would use the submitting shell's PWD, and the jobs of a trace have no
such shell.
"""
ARRAY_MAX = 1000
NUMBER = r"OAR_JOB_ID=(\d+)"
"""The pattern of the job number in oarsub's output. For an array, oarsub prints the number of each job; the first is
the array's number.
"""
_JOBS = "oarstat -f | sed -n 's/^Job_Id: /I /p;s/^    name = /N /p;s/^    state = /S /p;s/^    job_array_id = /A /p"
_JOBS += ";s/^    job_array_index = /X /p;s/^    wanted_resources = /W /p'"
"""The part of a shell command that prints, for each job that has not ended: number, array, index, name, state and
request.
"""
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
    """Return the oarsub command of a job. The job runs `sleep` for its run time, or its own script."""
    words = [OARSUB, "-n", job_name(job.id), "-d", DIRECTORY, "-l", f"{_size(job)},walltime={_walltime(job)}"]
    words += _chosen(choice or Choice(OARSUB))
    if job.work is None:
        return (*words, "-O", "/dev/null", "-E", "/dev/null", f"/bin/sleep {job.runtime_s:g}")
    command = f"env RANKS_ON=hosts {job.work.script}" if job.work.on_nodes else job.work.script
    log = job.work.output.replace("%jobname%", job_name(job.id))
    return (*words, "-O", log, "-E", log, command)


def _size(job: Job) -> str:
    """Return OAR's words for a job's size: a number of cores on any nodes, or all cores of a number of nodes."""
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
    """Return the oarsub options for a choice: a partition is a queue, an account is a project. The scenario's own
    arguments come last.
    """
    pairs = (("-q", choice.partition), ("--project", choice.account))
    words = [word for option, value in pairs if value for word in (option, value)]
    return [*words, *(["--hold"] if choice.is_held else []), *choice.arguments]


def array_words(count: int) -> tuple[str, ...]:
    """Return the oarsub options that submit a job as an array of `count` elements."""
    return ("--array", str(count))


def find_held(names: Sequence[str]) -> str:
    """Return a shell command that prints the numbers of the held jobs with these names, in the order of their
    submission.
    """
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
    by_hand=ByHand(
        hint="oarstat · oarnodes -s · oardel 1",
        job={"what OAR says": "oarstat -f -j {}", "cancel": "oardel {}"},
        cluster={"queue": "oarstat", "nodes": "oarnodes -s"},
    ),
)
