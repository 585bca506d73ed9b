"""The users and groups of a trace (SWF fields 12 and 13) as users and groups that exist on the emulated hosts only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simunix.workload.job import Job

FIRST_ID = 100_000
"""First user id and first group id; distributions assign only smaller ones."""
HOME = "/"
SHELL = "/bin/sh"


@dataclass(frozen=True, slots=True)
class User:
    """An emulated user. `groups` are group ids; the first is the user's primary group."""

    name: str
    uid: int
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Population:
    """The users, and the ids of the groups, by their numbers in the trace.

    `members` maps the name of each group to the names of its users, as sacctmgr(1) and group(5) need them.
    """

    users: Mapping[int, User]
    groups: Mapping[int, int]
    members: Mapping[str, tuple[str, ...]]


NO_PEOPLE = Population({}, {}, {})


def user_name(number: int) -> str:
    """Return the login name of the user that has this number in the trace."""
    return f"user{number}"


def group_name(number: int) -> str:
    """Return the name of the group that has this number in the trace; the group's account has this name too."""
    return f"group{number}"


def population(jobs: Sequence[Job]) -> Population:
    """Return all known users that have a job, numbered in the order of the trace's numbers.

    A user without a known group gets a primary group of its own.
    """
    joined: dict[int, set[int]] = {}
    for job in jobs:
        if job.user >= 0:
            joined.setdefault(job.user, set()).update({job.group} if job.group >= 0 else ())
    return _numbered(joined)


def together(populations: Sequence[Population]) -> Population:
    """Return the union of the populations of several workloads. Equal numbers mean the same user or group."""
    joined: dict[int, set[int]] = {}
    for each in populations:
        numbers = {gid: number for number, gid in each.groups.items()}
        for number, user in each.users.items():
            joined.setdefault(number, set()).update(numbers[gid] for gid in user.groups if gid in numbers)
    return _numbered(joined)


def _numbered(joined: Mapping[int, set[int]]) -> Population:
    groups = {
        number: FIRST_ID + rank for rank, number in enumerate(sorted({group for own in joined.values() for group in own}))
    }
    users = {}
    members: dict[str, list[str]] = {group_name(number): [] for number in groups}
    for rank, number in enumerate(sorted(joined)):
        own = sorted(joined[number])
        ids = tuple(groups[group] for group in own) or (FIRST_ID + len(groups) + rank,)
        users[number] = User(user_name(number), FIRST_ID + rank, ids)
        for group in own:
            members[group_name(group)].append(user_name(number))
    return Population(users, groups, {name: tuple(names) for name, names in members.items()})


def etc_files(people: Population, passwd: str, group: str) -> dict[str, bytes]:
    """Return passwd(5) and group(5) of a host: the `passwd` and `group` of its root, and the people of the trace.

    Where the root has an entry of an equal name, the entry of the trace replaces it.
    """
    users = [f"{user.name}:x:{user.uid}:{user.groups[0]}:of the trace:{HOME}:{SHELL}" for user in people.users.values()]
    groups = [
        f"{group_name(number)}:x:{gid}:{','.join(people.members[group_name(number)])}" for number, gid in people.groups.items()
    ]
    listed = set(people.groups.values())
    groups += [f"{user.name}:x:{user.groups[0]}:" for user in people.users.values() if user.groups[0] not in listed]
    return {"passwd": _merged(passwd, users), "group": _merged(group, groups)}


def _merged(text: str, entries: list[str]) -> bytes:
    names = {entry.partition(":")[0] for entry in entries}
    kept = [line for line in text.splitlines() if line.partition(":")[0] not in names]
    return ("\n".join([*kept, *entries]) + "\n").encode()
