"""A group: its place in the tree, its processes, and what was set and counted there. See cgroups(7), version 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from rsg_server.process.process import Process
    from rsg_server.processor.accounts import Account
    from rsg_server.storage.accounts import Account as StorageAccount

NO_LIMIT = -1
"""The number that stands for "max" in a control file."""
THREADED = frozenset(("cpu", "cpuset", "pids"))
"""Controllers whose resources Linux can divide among threads of one process; memory and io work on whole processes."""


@dataclass(eq=False, slots=True)
class Group:
    """A group below the root, or the root. The root has no parent and lists no processes: those in no other group are in it.

    `controllers` are those that the group may use and pass on, `passed` those that its children get. `numbers` contains
    limits and weights as they were set, `counts` how often events have happened. Their keys are names of files, or `FILE
    KEY` for files of several lines.
    """

    name: str
    parent: Group | None
    inode: int
    controllers: frozenset[str]
    passed: frozenset[str] = frozenset()
    children: dict[str, Group] = field(default_factory=dict)
    processes: dict[int, Process] = field(default_factory=dict)  # by number, in the order of their arrival
    populace: int = 0  # the number of processes in it and below
    freezes: bool = False  # its own cgroup.freeze is set
    numbers: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)  # its existing control files: inodes by name
    owner: tuple[int, int] = (0, 0)  # user and group of its control files
    owners: dict[str, tuple[int, int]] = field(default_factory=dict)  # of the files of controllers that it got later
    is_listed: bool = False  # all control files are there, and new ones appear at once, since somebody has looked
    account: Account | None = None  # of its threads at the processors, once some have computed
    storages: StorageAccount | None = None  # of its processes at storages, once they have used some, or are limited
    path: str = field(init=False)  # as /proc/PID/cgroup shows it: groups are never renamed

    def __post_init__(self) -> None:
        self.path = "/" if self.parent is None else f"{self.parent.path.rstrip('/')}/{self.name}"

    def __repr__(self) -> str:
        return self.path

    def up(self) -> Iterator[Group]:
        """Yield the group itself, then the group above, up to the root."""
        group: Group | None = self
        while group is not None:
            yield group
            group = group.parent

    def is_within(self, other: Group) -> bool:
        """Whether the group is the other group, or lies below it."""
        return any(group is other for group in self.up())

    def down(self) -> Iterator[Group]:
        """Yield the group itself and all groups below, each before its children."""
        yield self
        for child in self.children.values():
            yield from child.down()

    @property
    def depth(self) -> int:
        """The number of groups above this one."""
        return sum(1 for _ in self.up()) - 1

    @property
    def is_frozen(self) -> bool:
        """Whether this group, or a group above, freezes its processes."""
        return any(group.freezes for group in self.up())

    def members(self) -> Iterator[Process]:
        """Yield the processes in the group and in the groups below."""
        for group in self.down():
            yield from group.processes.values()

    def number(self, name: str, otherwise: int = NO_LIMIT) -> int:
        """Return the number that was set in a file, or else the given initial value."""
        return self.numbers.get(name, otherwise)

    # The rules of "no internal processes" (kernel/cgroup/cgroup.c)

    @property
    def is_thread_root(self) -> bool:
        """Whether the group has processes of its own and passes controllers on: its children may have threads of these only."""
        return self.parent is not None and bool(self.processes) and bool(self.passed)

    @property
    def can_be_thread_root(self) -> bool:
        """Whether processes may be in the group although it passes controllers on."""
        if self.parent is None:
            return True
        return not any(child.populace for child in self.children.values()) and self.passed <= THREADED

    @property
    def is_valid_domain(self) -> bool:
        """Whether processes may be in the group: no group above has processes of its own and passes controllers on."""
        return not any(group.is_thread_root for group in self.up() if group is not self)


def group_of(process: Process) -> Group | None:
    """Return the group that a process is in; None for the root."""
    return cast("Group | None", process.cgroup)
