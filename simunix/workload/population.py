"""The users and groups of a trace (SWF fields 12 and 13, names of a job table), which exist on the emulated hosts only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simunix.workload.job import Job

FIRST_ID = 100_000
"""The first user id and the first group id for people of a trace. Linux distributions assign only smaller ones."""
HOME = "/"
SHELL = "/bin/sh"
ROOT = "root"
"""The name of the user root, who exists on every host without the trace."""
_NUMBERED = re.compile(r"(.*?)(\d{1,9})")


@dataclass(frozen=True, slots=True)
class User:
    """An emulated user. `groups` are group ids; the first is the user's primary group."""

    name: str
    uid: int
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Population:
    """The users of a trace, and the ids of its groups, by name.

    `members` maps the name of each group to the names of its users, as sacctmgr(1) and group(5) need them.
    """

    users: Mapping[str, User]
    groups: Mapping[str, int]
    members: Mapping[str, tuple[str, ...]]


NO_PEOPLE = Population({}, {}, {})


def user_name(number: int) -> str:
    """Return the login name for the user with a number in the trace."""
    return f"user{number}"


def group_name(number: int) -> str:
    """Return the name for the group with a number in the trace; the group's account in the RJMS has this name, too."""
    return f"group{number}"


def user_of(job: Job) -> str:
    """Return the name of a job's user: from the job table, or made from the trace's number; "" if the user is unknown
    or root.
    """
    name = job.request.user if job.request is not None else ""
    name = name or (user_name(job.user) if job.user >= 0 else "")
    return "" if name == ROOT else name


def group_of(job: Job) -> str:
    """Return the name of a job's group: from the job table, or made from the trace's number; "" if the group is
    unknown.
    """
    name = job.request.group if job.request is not None else ""
    return name or (group_name(job.group) if job.group >= 0 else "")


def population(jobs: Sequence[Job]) -> Population:
    """Return all known users that have a job, numbered in the order of the trace's numbers, or of their names.

    A user without a known group gets a primary group of its own.
    """
    joined: dict[str, set[str]] = {}
    for job in jobs:
        if user := user_of(job):
            joined.setdefault(user, set()).update({group} if (group := group_of(job)) else ())
    return _numbered(joined)


def together(populations: Sequence[Population]) -> Population:
    """Return the union of the populations of several workloads. Equal names are the same user or group."""
    joined: dict[str, set[str]] = {}
    for each in populations:
        names = {gid: name for name, gid in each.groups.items()}
        for name, user in each.users.items():
            joined.setdefault(name, set()).update(names[gid] for gid in user.groups if gid in names)
    return _numbered(joined)


def _order(name: str) -> tuple[str, int, str]:
    """Return a key by which names that end with a number are sorted by that number: user9, user10."""
    found = _NUMBERED.fullmatch(name)
    return (found[1], int(found[2]), name) if found else (name, -1, name)


def _numbered(joined: Mapping[str, set[str]]) -> Population:
    names = sorted({group for own in joined.values() for group in own}, key=_order)
    groups = {name: FIRST_ID + rank for rank, name in enumerate(names)}
    users = {}
    members: dict[str, list[str]] = {name: [] for name in groups}
    for rank, name in enumerate(sorted(joined, key=_order)):
        own = sorted(joined[name], key=_order)
        ids = tuple(groups[group] for group in own) or (FIRST_ID + len(groups) + rank,)
        users[name] = User(name, FIRST_ID + rank, ids)
        for group in own:
            members[group].append(name)
    return Population(users, groups, {name: tuple(names) for name, names in members.items()})


def etc_files(people: Population, passwd: str, group: str) -> dict[str, bytes]:
    """Return the files passwd(5) and group(5) for a host: the `passwd` and `group` of its root, with the people of the
    trace added.

    An entry of the trace replaces an entry of the root with the same name.
    """
    users = [f"{user.name}:x:{user.uid}:{user.groups[0]}:of the trace:{HOME}:{SHELL}" for user in people.users.values()]
    groups = [f"{name}:x:{gid}:{','.join(people.members[name])}" for name, gid in people.groups.items()]
    listed = set(people.groups.values())
    groups += [f"{user.name}:x:{user.groups[0]}:" for user in people.users.values() if user.groups[0] not in listed]
    return {"passwd": _merged(passwd, users), "group": _merged(group, groups)}


def _merged(text: str, entries: list[str]) -> bytes:
    names = {entry.partition(":")[0] for entry in entries}
    kept = [line for line in text.splitlines() if line.partition(":")[0] not in names]
    return ("\n".join([*kept, *entries]) + "\n").encode()
