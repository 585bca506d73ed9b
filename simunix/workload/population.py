"""The users and groups of a trace (SWF fields 12 and 13) as users of the emulated hosts, who exist there only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simunix.workload.job import Job

FIRST_ID = 100_000
"""User and group numbers count on from here, above those that distributions give."""
HOME = "/"
SHELL = "/bin/sh"


@dataclass(frozen=True, slots=True)
class User:
    """An emulated user; `groups` are numbers, the own one first."""

    name: str
    uid: int
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Population:
    """By the trace's numbers. `members`: the groups' names with their users', as sacctmgr and /etc/group need them."""

    users: Mapping[int, User]
    groups: Mapping[int, int]
    members: Mapping[str, tuple[str, ...]]


NO_PEOPLE = Population({}, {}, {})


def user_name(number: int) -> str:
    """Name of a user of the trace."""
    return f"user{number}"


def group_name(number: int) -> str:
    """Name of a group of the trace, and of its account."""
    return f"group{number}"


def population(jobs: Sequence[Job]) -> Population:
    """Everybody who has a job, in the order of the trace's numbers; who is in no group has his own. Without unknown users."""
    joined: dict[int, set[int]] = {}
    for job in jobs:
        if job.user >= 0:
            joined.setdefault(job.user, set()).update({job.group} if job.group >= 0 else ())
    return _numbered(joined)


def together(populations: Sequence[Population]) -> Population:
    """Those of several workloads: the same number is the same user."""
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
    """/etc/passwd and /etc/group of a host whose root has these: entries of the same name give way."""
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
