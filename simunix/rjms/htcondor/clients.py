"""The commands of HTCondor's users: how simunix submits a job of a workload, and asks for the queue."""

from __future__ import annotations

from collections.abc import Sequence

from rsg_server.errors import SimunixError
from simunix.rjms import trace_jobs
from simunix.rjms.adapter import ByHand, Choice, Clients
from simunix.rjms.htcondor.layout import START_RANKS
from simunix.rjms.htcondor.placement import shape
from simunix.rjms.trace_jobs import job_name, limit_s
from simunix.workload.job import Job
from simunix.workload.population import User

SUBMIT = "condor_submit"
ARRAY_MAX = 1000
NUMBER = r"^(\d+)\."
"""The pattern of the job number in the output of `condor_submit -terse`: FIRST - LAST, each CLUSTER.PROCESS."""
NOBODY = User("nobody", 65534, (65534,))
"""The user of jobs without a known user, because HTCondor runs no job of root. All releases of Debian have this user.
"""
DURATION_EXCEEDED = 46
"""The HoldReasonCode of a job that ran longer than its allowed_job_duration."""
EVERYBODY = ("condor_q", "-allusers", "-af", "ClusterId")
HELD, RUNNING = "5", "2"
"""The values of JobStatus for a held and for a running job."""
_CORES = "RequestCpus*MaxHosts"
STATES = f"condor_q -allusers -af JobBatchName JobStatus '{_CORES}' | tr ' ' '|'"
UNFINISHED = ("sh", "-c", 'condor_q -allusers -af ClusterId ProcId | while read c p; do echo $c; echo "${c}_$p"; done')
_END = "ifThenElse((CompletionDate ?: 0) > 0, CompletionDate, EnteredCurrentStatus)"
ENDED = (
    *("sh", "-c"),
    f"date -d @$(condor_history $(echo {{}} | tr _ .) -limit 1 -af '{_END}') +end=%Y-%m-%dT%H:%M:%S",
)


def named(job_id: int) -> str:
    """Return a word in a job's submission that no other job has."""
    return f"batch_name={job_name(job_id)}"


def submit_command(nodes: Sequence[int], job: Job, choice: Choice | None = None) -> tuple[str, ...]:
    """Return the condor_submit command of a job, with the whole submit description as words; `nodes` has the cores of
    each node.
    """
    limit = limit_s(job)
    words = [SUBMIT, "-terse", named(job.id), *_size(nodes, job), *_program(job)]
    if limit is not None:
        words += [f"allowed_job_duration={limit:g}", f"periodic_remove=HoldReasonCode == {DURATION_EXCEEDED}"]
    return (*words, *_chosen(job, choice or Choice(SUBMIT)), "-queue", "$(count:1)")


def _program(job: Job) -> list[str]:
    """Return the program that a job runs: `sleep` for the job's run time, or the job's own script."""
    if job.work is None:
        return ["executable=/bin/sleep", f"arguments={job.runtime_s:g}", "transfer_executable=False"]
    log = job.work.output
    return [f"executable={job.work.script}", "transfer_executable=False", f"output={log}", f"error={log}"]


def _size(nodes: Sequence[int], job: Job) -> list[str]:
    """Return the words for a job's size: the cores of a slot. Slots on several nodes form a job of the parallel
    universe, which runs its program in each slot.

    For a job array, `count=N` alone would make one parallel job of N parts. A word that no two parallel jobs share
    prevents that.
    """
    if job.work is not None and job.work.on_nodes:
        found = (job.work.ranks, min(nodes))
    else:
        wanted = shape(job.cores, nodes, f"job {job.id}")
        found = (wanted.slots, wanted.cores)
    slots, cores = found
    if slots == 1:
        return [f"request_cpus={cores}"]
    if job.work is not None:
        raise SimunixError(
            f"job {job.id}: it has {job.work.ranks} ranks on {slots} nodes, and HTCondor starts no ranks on several nodes "
            "without a launcher of the site; give it fewer cores, or jobs that sleep (no profile)"
        )
    return ["universe=parallel", f"machine_count={slots}", f"request_cpus={cores}", "-append", f"+TraceJob={job.id}"]


def _chosen(job: Job, choice: Choice) -> list[str]:
    """Return the words for a choice: an account becomes an accounting group. The scenario's own arguments come last."""
    for word, value in (("partition", choice.partition), ("qos", choice.qos)):
        if value is not None:
            raise SimunixError(f"job {job.id}: {word} {value!r}: HTCondor has none; say what the job needs as arguments")
    words = [f"accounting_group={choice.account}"] if choice.account else []
    if choice.nice is not None or choice.priority is not None:
        words.append(f"priority={choice.priority if choice.nice is None else -choice.nice}")
    return [*words, *(["hold=True"] if choice.is_held else []), *choice.arguments]


def array_words(count: int) -> tuple[str, ...]:
    """Return the words that submit a job as an array of `count` elements."""
    return (f"count={count}",)


def find_held(names: Sequence[str]) -> str:
    """Return a shell command that prints the numbers of the held jobs with these names, in the order of their
    submission.
    """
    question = f"condor_q -allusers -constraint 'JobStatus == {HELD}' -af JobBatchName ClusterId"
    return trace_jobs.find_held(question, "$1 in known { print $2 }", names, order="sort -n -u")


def clients_of(nodes: Sequence[int]) -> Clients:
    """Return the commands of the users of a pool; `nodes` has the cores of each node."""
    return Clients(
        names=(SUBMIT,),
        staying=frozenset(),
        command=lambda job, choice: submit_command(nodes, job, choice),
        job_name=job_name,
        named=named,
        limit_s=limit_s,
        number=NUMBER,
        after=(),
        array=array_words,
        array_max=ARRAY_MAX,
        launch=(START_RANKS,),
        log_name="$(batch_name)-$(ClusterId)",
        queue=EVERYBODY,
        unfinished=UNFINISHED,
        ended=ENDED,
        end_pattern=r"end=(\S+)",
        release=("condor_release", "{}"),
        states=STATES,
        running=RUNNING,
        pending=HELD,
        find_held=find_held,
        release_all=("condor_release",),
        nobody=NOBODY,
        by_hand=ByHand(
            hint="condor_q -allusers -totals · condor_status · condor_rm 1",
            job={"cancel": "condor_rm {}"},
            cluster={"queue": "condor_q -allusers -totals", "nodes": "condor_status"},
        ),
    )
