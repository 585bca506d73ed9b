"""One cgroup of a host: its place in the tree, its processes, its settings and counters. See cgroups(7), version 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from rsg_server.process.process import Process
    from rsg_server.processor.accounts import Account
    from rsg_server.storage.accounts import Account as StorageAccount

NO_LIMIT = -1
"""The number by which the server stores the text "max" of a control file."""
THREADED = frozenset(("cpu", "cpuset", "pids"))
"""The controllers whose resources Linux can divide among threads of one process. memory and io work on whole processes."""


@dataclass(eq=False, slots=True)
class Group:
    """A cgroup. The root has no parent and stores no processes: a process that is in no other group counts as in the root.

    `controllers` are the controllers that the cgroup may use and pass on, `passed` those that its children get.
    `numbers` contains limits and weights as they were set, `counts` how often events have happened. The keys of both
    are names of control files, or `FILE KEY` for files of several lines.
    """

    name: str
    parent: Group | None
    inode: int
    controllers: frozenset[str]
    passed: frozenset[str] = frozenset()
    children: dict[str, Group] = field(default_factory=dict)
    # by the process's number, in the order in which the processes entered the group
    processes: dict[int, Process] = field(default_factory=dict)
    populace: int = 0  # the number of processes in this group and in the groups below
    freezes: bool = False  # the file cgroup.freeze of this group contains 1
    numbers: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)  # inode of each control file that exists by now, by name
    owner: tuple[int, int] = (0, 0)  # user id and group id of its control files
    # user id and group id of the files of controllers that the group got later, by controller
    owners: dict[str, tuple[int, int]] = field(default_factory=dict)
    is_listed: bool = False  # somebody has listed the folder: all control files exist, and new ones are made at once
    account: Account | None = None  # the CPU time of the group's threads; made when a thread first computes
    # the reads and writes of its processes at storages; made at the first one, or for a limit
    storages: StorageAccount | None = None
    path: str = field(init=False)  # the path that /proc/PID/cgroup shows; a group is never renamed

    def __post_init__(self) -> None:
        self.path = "/" if self.parent is None else f"{self.parent.path.rstrip('/')}/{self.name}"

    def __repr__(self) -> str:
        return self.path

    def up(self) -> Iterator[Group]:
        """Yield this cgroup, then the group above it, and so on up to the root."""
        group: Group | None = self
        while group is not None:
            yield group
            group = group.parent

    def is_within(self, other: Group) -> bool:
        """Return whether this cgroup is `other` or lies below it."""
        return any(group is other for group in self.up())

    def down(self) -> Iterator[Group]:
        """Yield this cgroup and all groups below it, each before its children."""
        yield self
        for child in self.children.values():
            yield from child.down()

    @property
    def depth(self) -> int:
        """The number of groups above this one."""
        return sum(1 for _ in self.up()) - 1

    @property
    def is_frozen(self) -> bool:
        """Whether the processes of this cgroup are frozen: by its own cgroup.freeze or by that of a group above."""
        return any(group.freezes for group in self.up())

    def members(self) -> Iterator[Process]:
        """Yield the processes in this cgroup and in the groups below."""
        for group in self.down():
            yield from group.processes.values()

    def number(self, name: str, otherwise: int = NO_LIMIT) -> int:
        """Return the number that was written to a control file of this cgroup; `initial` if none was."""
        return self.numbers.get(name, otherwise)

    # The rules about groups that have processes and pass controllers on (kernel/cgroup/cgroup.c of Linux)

    @property
    def is_thread_root(self) -> bool:
        """Whether the cgroup has processes of its own and passes controllers on, so that its children may contain
        threads only.
        """
        return self.parent is not None and bool(self.processes) and bool(self.passed)

    @property
    def can_be_thread_root(self) -> bool:
        """Whether the cgroup may have processes although it passes controllers on to its children."""
        if self.parent is None:
            return True
        return not any(child.populace for child in self.children.values()) and self.passed <= THREADED

    @property
    def is_valid_domain(self) -> bool:
        """Whether processes may be in the cgroup: none of the groups above it both has processes and passes controllers on."""
        return not any(group.is_thread_root for group in self.up() if group is not self)


def group_of(process: Process) -> Group | None:
    """Return the cgroup that a process is in; None for the root."""
    return cast("Group | None", process.cgroup)
