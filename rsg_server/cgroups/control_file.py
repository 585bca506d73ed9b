"""A control file: its name and mode, the groups that have such a file, and the functions that read and write it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.cgroups.group import Group
    from rsg_server.cgroups.hierarchy import Hierarchy
    from rsg_server.process.process import Process

READ, WRITE, BOTH = 0o444, 0o200, 0o644
EVERYWHERE, AT_ROOT, BELOW = frozenset((True, False)), frozenset((True,)), frozenset((False,))
"""Whether a file exists at the root (True), in other groups (False), or in both."""


class RefusedError(Exception):
    """The refusal of a request, with an errno; Linux would refuse the request as well."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Request:
    """A write to a control file: which file, by whom. `user` is the writer's effective one, in its own user namespace.

    No dataclass: compiled, that would need the class of each field while this module is imported, before those that import
    it.
    """

    __slots__ = ("group", "hierarchy", "text", "user", "writer")

    def __init__(self, hierarchy: Hierarchy, group: Group, text: str, writer: Process, user: int) -> None:
        self.hierarchy, self.group, self.text, self.writer, self.user = hierarchy, group, text, writer, user

    @property
    def words(self) -> list[str]:
        """The text, split into words."""
        return self.text.split()

    @property
    def word(self) -> str:
        """The text without the white space around it."""
        return self.text.strip()


Read = Callable[["Hierarchy", "Group"], str]
Write = Callable[[Request], None]


@dataclass(frozen=True, slots=True)
class ControlFile:
    """A control file, which a group has if the file's controller is passed on to the group; "" as controller: all groups.

    If the file `tells`, it is rewritten whenever its text changes, so that inotify(7) reports the change. If the file
    `is_kept`, it has its text from the beginning on and is rewritten likewise, so that it is read without a message
    (csrc/shim/sys/cgroup/files.c: kept). Other files are rewritten when they are read.
    """

    name: str
    controller: str
    read: Read | None
    write: Write | None = None
    where: frozenset[bool] = BELOW
    tells: bool = False
    is_kept: bool = False

    @property
    def mode(self) -> int:
        """The mode of the file, as Linux (kernfs) sets it."""
        if self.write is None:
            return READ
        return WRITE if self.read is None else BOTH

    def is_of(self, group: Group) -> bool:
        """Whether the group has this file. The root has every file that can be at a root, whatever its controller."""
        return (group.parent is None) in self.where and (
            not self.controller or self.controller in group.controllers or group.parent is None
        )


def decimal(text: str) -> int | None:
    """Return the value of a decimal number without a sign; None if the text is something else."""
    return int(text) if re.fullmatch(r"[0-9]{1,19}", text) else None


def is_integer(text: str) -> bool:
    """Whether a text is a number of up to nine digits with or without a sign. Linux answers ERANGE to it, else EINVAL."""
    return re.fullmatch(r"[+-]?[0-9]{1,9}", text) is not None
