"""Describes a kind of control file of cgroups: its name and mode, which groups have it, and how it is read and written."""

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
"""Where a control file exists: in the root cgroup (True), in the groups below the root (False), or in both."""


class RefusedError(Exception):
    """Raised to refuse a request about a cgroup, with the errno that Linux would return as well."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Request:
    """A write to a control file, with its writer. `user` is the writer's effective user id, in its own user namespace.

    `Request` is no dataclass: a compiled dataclass needs the class of each field while its module is imported, and the
    classes of these fields are in modules that are imported later.
    """

    __slots__ = ("group", "hierarchy", "text", "user", "writer")

    def __init__(self, hierarchy: Hierarchy, group: Group, text: str, writer: Process, user: int) -> None:
        self.hierarchy, self.group, self.text, self.writer, self.user = hierarchy, group, text, writer, user

    @property
    def words(self) -> list[str]:
        """The written text, split into words."""
        return self.text.split()

    @property
    def word(self) -> str:
        """The written text without white space at its ends."""
        return self.text.strip()


Read = Callable[["Hierarchy", "Group"], str]
Write = Callable[[Request], None]


@dataclass(frozen=True, slots=True)
class ControlFile:
    """A kind of control file, which a cgroup has if the file's `controller` is passed on to it; "" stands for every group.

    The server rewrites a file that `tells` whenever its text changes, so that inotify(7) reports the change. The server
    also rewrites a file that `is_kept` at each change, so that programs can read the file without a message to the
    server (csrc/shim/sys/cgroup/files.c: kept). All other files are rewritten when a program reads them.
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
        """Return whether a cgroup has this file.

        The root group has every file that a root can have, whatever its controller.
        """
        return (group.parent is None) in self.where and (
            not self.controller or self.controller in group.controllers or group.parent is None
        )


def decimal(text: str) -> int | None:
    """Return the value of a decimal number without a sign; None if the text is something else."""
    return int(text) if re.fullmatch(r"[0-9]{1,19}", text) else None


def is_integer(text: str) -> bool:
    """Return whether a text is an integer of up to nine digits, with or without a sign.

    Where Linux expects a smaller range, it answers ERANGE to such a text and EINVAL to any other.
    """
    return re.fullmatch(r"[+-]?[0-9]{1,9}", text) is not None
