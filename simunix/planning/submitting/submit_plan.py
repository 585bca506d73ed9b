"""Make the plan of the submitting program (plan.json, see simunix.workload.guest.submitter) from a workload's section
and jobs.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from simunix.planning.submitting.table_plan import submissions
from simunix.rjms.adapter import Choice, Clients, TableSubmission
from simunix.scenario.submit_section import BY_RJMS, SubmitOptions, SubmitSection
from simunix.workload.job import Job
from simunix.workload.population import Population, User, group_of, user_of
from simunix.workload.transforms.order import Order, by_feedback, by_preceding_job, preceding_jobs

if TYPE_CHECKING:
    from simunix.workload.transforms.context import Context  # imports pandas, which takes long

NS = 10**9
NOBODY = "root"
"""The user who submits jobs without a known user, and all jobs if the scenario ignores users."""
COMMON_ACCOUNT = "trace"
"""The account of users without a group, and of all users if the scenario ignores groups."""


@dataclass(frozen=True, slots=True)
class SubmitPlan:
    """`content` is plan.json without its origin of time; besides, the accounts of the trace, the accounts of each user,
    and the QoS that jobs ask for.
    """

    content: dict[str, Any]
    accounts: tuple[str, ...]
    associations: Mapping[str, tuple[str, ...]]
    qos: tuple[str, ...]


def submit_plan(
    section: SubmitSection,
    key: str,
    jobs: Sequence[Job],
    clients: Clients,
    host_users: Population,
    context: Context | None = None,
    factors: str = "",
) -> SubmitPlan:
    """Make the plan of the submitting program. Raises SimunixError for wishes that the RJMS's clients do not have.

    `host_users` is empty if the program's own user submits all jobs. `factors` is the path of the file with a factor of
    run times for each node, or "". The waiting jobs of a `context` are submitted held, and released later. Each job of
    a context is submitted by itself, under its own name.
    """
    client = _client(section, key, clients)
    held, alone = _restored(context)
    options = [section.options_of(job) for job in jobs]
    choices = [_choice(section, client, job, each, job.id in held) for job, each in zip(jobs, options, strict=True)]
    order = _order(section, jobs)
    people, users = _submitters(jobs, clients, host_users)
    if any(job.request is not None for job in jobs):
        _check_table(section, key, clients)
        entries = _table_entries(key, jobs, choices, options, order, clients, users, factors)
    else:
        entries = _entries(section, jobs, choices, options, order, clients, users)
    if section.arrays == "bursts":
        entries = in_arrays(entries, clients, alone)
    content = {
        "number": clients.number,
        "poll": clients.queue,
        "jobs": entries,
        **_seldom(section, clients, order, people),
    }
    content |= _later(entries, clients)
    associations = _associations(section, jobs, choices, host_users)
    of_trace = {_account(job) for job in jobs} | {COMMON_ACCOUNT}
    accounts = dict.fromkeys(account for own in associations.values() for account in own if account in of_trace)
    return SubmitPlan(content, tuple(accounts), associations, _qos(jobs, choices))


def _qos(jobs: Sequence[Job], choices: Sequence[Choice]) -> tuple[str, ...]:
    asked = [choice.qos or (job.request.qos if job.request else "") for job, choice in zip(jobs, choices, strict=True)]
    return tuple(dict.fromkeys(name for name in asked if name))


def _entries(
    section: SubmitSection,
    jobs: Sequence[Job],
    choices: Sequence[Choice],
    options: Sequence[SubmitOptions],
    order: Order,
    clients: Clients,
    users: Mapping[str, int],
) -> list[dict[str, Any]]:
    """Return the entries of plan.json for the jobs of a trace that is no job table."""
    needs = preceding_jobs(jobs) if section.dependencies == BY_RJMS else {}
    return [
        _entry(job, clients.command(job, choice), each, choice.client in clients.staying, order, needs, users)
        for job, choice, each in zip(jobs, choices, options, strict=True)
    ]


def _later(entries: Sequence[dict[str, Any]], clients: Clients) -> dict[str, Any]:
    """Return the entries of plan.json with the commands that are run for a job after its submission."""
    words = {word for entry in entries for word in entry}
    found: dict[str, Any] = {"release": clients.release} if "hold" in words else {}
    if clients.tables is not None and words & {"cancel", "cancel_elements"}:
        found["cancel"] = clients.tables.cancel
    return found


def _submitters(jobs: Sequence[Job], clients: Clients, host_users: Population) -> tuple[tuple[User, ...], dict[str, int]]:
    """Return the users that submit jobs, in the plan's order, and the index of each user of the trace among them.

    The submitting program's own user has no index.
    """
    places = {name: index for index, name in enumerate(host_users.users)}
    if clients.nobody is None:
        return tuple(host_users.users.values()), places
    return (*host_users.users.values(), clients.nobody), {user_of(job): places.get(user_of(job), len(places)) for job in jobs}


def _entry(
    job: Job,
    argv: tuple[str, ...],
    options: SubmitOptions,
    stays: bool,
    order: Order,
    needs: Mapping[int, int],
    users: Mapping[str, int],
) -> dict[str, Any]:
    """Return the entry of plan.json for a job; `users` maps each user of the trace to an index among the plan's users."""
    entry: dict[str, Any] = {"id": job.id, "at": job.submit_s, "argv": argv}
    if job.id in order.after:
        entry["after"] = order.after[job.id]
    if job.id in needs:
        entry["needs"] = needs[job.id]
    if (user := user_of(job)) in users:
        entry["user"] = users[user]
    if options.hold is not None:
        entry["hold"] = options.hold / NS
    if stays:
        entry["stays"] = True
    return entry


def _restored(context: Context | None) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of the jobs of a context that are submitted held, and the numbers of all its jobs."""
    return (
        (frozenset(), frozenset())
        if context is None
        else (frozenset(context.waiting), frozenset((*context.running, *context.waiting)))
    )


def _client(section: SubmitSection, key: str, clients: Clients) -> str:
    """Return the client of the section. Raises SimunixError if this client cannot do what the section asks for."""
    client = section.client or clients.names[0]
    if client not in clients.names:
        raise SimunixError(f"{key}.client: {client!r} submits no jobs here; known: {', '.join(clients.names)}")
    if section.dependencies == BY_RJMS and not clients.after:
        raise SimunixError(
            f"{key}.dependencies: {client} cannot let a job wait for another; use think_time, which submits it after that end"
        )
    if client in clients.staying:
        holds = any(
            each.hold is not None for each in (*section.partitions.values(), *section.queues.values(), *section.options)
        )
        asked = {
            f"dependencies: {BY_RJMS}": section.dependencies == BY_RJMS,
            "arrays: bursts": section.arrays == "bursts",
            "hold": holds,
        }
        for what, is_asked in asked.items():
            if is_asked:
                raise SimunixError(f"{key}.client: {client} prints no job number, which {what} needs; use {clients.names[0]}")
    return client


def _choice(section: SubmitSection, client: str, job: Job, options: SubmitOptions, is_held: bool) -> Choice:
    account = options.account
    if account is None and section.accounts == "trace":
        account = _account(job)
    return Choice(
        client,
        options.partition,
        options.qos,
        account,
        options.nice,
        options.priority,
        is_held or options.hold is not None or section.policy is not None,
        tuple(options.arguments),
    )


def _account(job: Job) -> str | None:
    """Return the account that the trace names for a job: that of the job table, or the job's group."""
    return (job.request.account if job.request is not None else "") or group_of(job) or None


def _order(section: SubmitSection, jobs: Sequence[Job]) -> Order:
    if section.dependencies == "think_time":
        return by_preceding_job(jobs)
    if section.feedback == "none":
        return Order()
    return by_feedback(jobs, inf if section.feedback == "user" else section.session_gap / NS)


def _seldom(section: SubmitSection, clients: Clients, order: Order, users: Sequence[User]) -> dict[str, Any]:
    """Return the entries of plan.json that only some workloads need."""
    found: dict[str, Any] = {}
    if order.groups:
        found["groups"] = order.groups
        found["poll_interval"] = section.poll_interval / NS
        found["unfinished"] = clients.unfinished
        found["ended"] = {"argv": clients.ended, "pattern": clients.end_pattern}
    if section.dependencies == BY_RJMS:
        found["after"] = clients.after
    if section.arrays == "bursts" and clients.first_index:
        found["first_index"] = clients.first_index
    if users:
        found["users"] = [{"name": user.name, "uid": user.uid, "groups": user.groups} for user in users]
    return found


# Job tables


def _check_table(section: SubmitSection, key: str, clients: Clients) -> None:
    """Raise SimunixError for keys of the section that cannot be used together with a job table."""
    if clients.tables is None:
        raise SimunixError(f"{key}.trace: this RJMS has no options for the columns of a job table; convert the table to .swf")
    if section.client in clients.staying:
        raise SimunixError(f"{key}.client: {section.client} submits no job table; use {clients.names[0]}")
    if section.arrays != "ignore":
        raise SimunixError(f"{key}.arrays: a job table says itself which jobs are arrays (17_1, 17_2); leave arrays out")
    if section.dependencies == BY_RJMS:
        raise SimunixError(
            f"{key}.dependencies: a job table has a column Dependency; leave dependencies out, or choose think_time"
        )


def _table_entries(
    key: str,
    jobs: Sequence[Job],
    choices: Sequence[Choice],
    options: Sequence[SubmitOptions],
    order: Order,
    clients: Clients,
    users: Mapping[str, int],
    factors: str,
) -> list[dict[str, Any]]:
    assert clients.tables is not None
    by_id = {job.id: (choice, each) for job, choice, each in zip(jobs, choices, options, strict=True)}
    found = []
    for group in submissions(jobs, key):
        first = group.parts[0]
        submission = TableSubmission(
            parts=tuple((job, by_id[job.id][0]) for job in group.parts), elements=group.elements, factors=factors
        )
        argv = clients.tables.command(submission)
        entry = _entry(first, argv, by_id[first.id][1], False, order, {}, users)
        request = first.request
        assert request is not None
        found.append(
            {**entry, **group.entry(), **({"clauses": clients.tables.dependency(request)} if request.dependency else {})}
        )
    return found


# Arrays


def in_arrays(entries: Sequence[dict[str, Any]], clients: Clients, alone: Container[int] = ()) -> list[dict[str, Any]]:
    """Join entries of plan.json that differ only in their job into job arrays, each at the place of its first job.

    A job that depends on another job's number stays alone, as do the jobs in `alone`.
    """
    bursts: dict[object, list[dict[str, Any]]] = {}
    for rank, entry in enumerate(entries):
        name = clients.named(entry["id"])
        rest = tuple(word for word in entry["argv"] if word != name)
        others = tuple((word, entry[word]) for word in sorted(entry.keys() - {"id", "argv"}))
        is_alone = "needs" in entry or entry["id"] in alone
        bursts.setdefault(rank if is_alone else (rest, others), []).append(entry)
    found = []
    for burst in bursts.values():
        for first in range(0, len(burst), clients.array_max):
            found.append(_array(burst[first : first + clients.array_max], clients))
    ranks = {entry["id"]: rank for rank, entry in enumerate(entries)}
    return sorted(found, key=lambda entry: ranks[entry["id"]])


def _array(burst: Sequence[dict[str, Any]], clients: Clients) -> dict[str, Any]:
    if len(burst) == 1:
        return burst[0]
    client, *words = burst[0]["argv"]
    argv = (client, *clients.array(len(burst)), *words)
    return {**burst[0], "argv": argv, "array": [entry["id"] for entry in burst]}


# Accounts


def _associations(
    section: SubmitSection, jobs: Sequence[Job], choices: Sequence[Choice], host_users: Population
) -> dict[str, tuple[str, ...]]:
    """Return the accounts to which each user may submit, the default account first. For root, these are only accounts
    that jobs ask for.
    """
    if section.accounts == "ignore" and (section.users == "ignore" or any(job.request is not None for job in jobs)):
        return {}  # accounts of a job table are created on demand, because the site's own are in its database
    found: dict[str, dict[str, None]] = {}
    for job, choice in zip(jobs, choices, strict=True):
        user = name if (name := user_of(job)) in host_users.users else NOBODY
        account = choice.account or (COMMON_ACCOUNT if user != NOBODY else None)
        if account is not None:
            found.setdefault(user, {})[account] = None
    return {user: tuple(sorted(accounts, key=lambda account: account != COMMON_ACCOUNT)) for user, accounts in found.items()}
