"""The programs that decide which devices the processes of a cgroup may open or make; see kernel/bpf/cgroup.c.

A program gets a number when it is loaded; equal programs are one. A group has no program, one, or (ALLOW_MULTI) up to 64.
For a group its own programs count; if it has none, those of the nearest group above; and all programs of groups above that
allow several. An access is allowed if every program that counts answers 1.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from rsg_server.devices.ebpf import RefusedError

if TYPE_CHECKING:
    from rsg_server.devices.ebpf.instructions import Instruction

OVERRIDE, MULTI, REPLACE = 1, 2, 4
"""Flags of BPF_PROG_ATTACH."""
MOST_OF_A_GROUP = 64
BLOCK, CHARACTER = 1, 2
MAKE, READ, WRITE = 1, 2, 4
"""The parts of the context's access_type, see struct bpf_cgroup_dev_ctx."""


class Group(Protocol):
    """A group of processes in a tree (rsg_server/cgroups/group.py)."""

    def up(self) -> Iterator[Self]:
        """The group itself, then the group above, up to the root."""


@dataclass(eq=False, slots=True)
class Program:
    """A verified program, with the answers that it has given: they depend on the context only."""

    number: int
    instructions: list[Instruction]
    answers: dict[tuple[int, int, int], bool] = field(default_factory=dict)

    def allows(self, context: tuple[int, int, int]) -> bool:
        """Whether the program answers 1."""
        if context not in self.answers:
            from rsg_server.devices.ebpf.machine import run  # few runs have programs

            self.answers[context] = bool(run(self.instructions, context) & 1)
        return self.answers[context]


@dataclass(eq=False, slots=True)
class Attached:
    """The programs that are attached to one group, and the flags."""

    flags: int
    programs: list[Program]


class Programs:
    """All programs of a run, and the groups that have programs; `tell` tells the shims the number of these groups."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell
        self._by_content: dict[bytes, Program] = {}
        self._by_number: dict[int, Program] = {}
        self._of: dict[Group, Attached] = {}
        self.parts: dict[int, bytes] = {}
        """The parts of a program that actors (by number) have sent so far."""

    @property
    def are_used(self) -> bool:
        """Whether any group has a program."""
        return bool(self._of)

    def load(self, content: bytes) -> int:
        """Load a program, and return its number. Raises RefusedError if it may not run."""
        known = self._by_content.get(content)
        if known is None:
            from rsg_server.devices.ebpf.instructions import decoded
            from rsg_server.devices.ebpf.verifier import verify

            instructions = decoded(content)
            verify(instructions)
            known = Program(len(self._by_number) + 1, instructions)
            self._by_content[content] = self._by_number[known.number] = known
        return known.number

    def find(self, number: int, otherwise: int = errno.ENOENT) -> Program:
        """Return the program with a number. Raises RefusedError."""
        if number not in self._by_number:
            raise RefusedError(otherwise)
        return self._by_number[number]

    def attach(self, group: Group, number: int, flags: int, replaced: int) -> None:
        """Attach a program to a group. Raises RefusedError."""
        program, kept = self.find(number, errno.EBADF), flags & (OVERRIDE | MULTI)
        if kept == OVERRIDE | MULTI or (flags & REPLACE and not flags & MULTI):
            raise RefusedError(errno.EINVAL)
        own = self._of.get(group)
        if not self._may_have_own(group) or (own is not None and own.flags != kept):
            raise RefusedError(errno.EPERM)
        if own is None:
            own = Attached(kept, [])
        if not kept & MULTI:
            own.programs[:] = [program]
        else:
            self._add(own, program, self.find(replaced, errno.EBADF) if flags & REPLACE else None)
        self._of[group] = own
        self._tell(len(self._of))

    def _may_have_own(self, group: Group) -> bool:
        """Whether the nearest group above that has programs allows other groups to have some."""
        above = next((each for each in group.up() if each is not group and each in self._of), None)
        return above is None or bool(self._of[above].flags)

    @staticmethod
    def _add(own: Attached, program: Program, replaced: Program | None) -> None:
        if len(own.programs) >= MOST_OF_A_GROUP:
            raise RefusedError(errno.E2BIG)
        if program in own.programs and program is not replaced:
            raise RefusedError(errno.EINVAL)
        if replaced is None:
            own.programs.append(program)
        elif replaced in own.programs:
            own.programs[own.programs.index(replaced)] = program
        else:
            raise RefusedError(errno.ENOENT)

    def detach(self, group: Group, number: int) -> None:
        """Detach a program from a group; an only program need not be given. Raises RefusedError."""
        own = self._of.get(group)
        program = self._by_number.get(number)
        if own is not None and not own.flags & MULTI:
            program = own.programs[0]
        if program is None:
            raise RefusedError(errno.ENOENT if own is None else errno.EINVAL)
        if own is None or program not in own.programs:
            raise RefusedError(errno.ENOENT)
        own.programs.remove(program)
        if not own.programs:
            self.removed(group)

    def removed(self, group: Group) -> None:
        """Forget the programs of a group, which may be gone."""
        if self._of.pop(group, None) is not None:
            self._tell(len(self._of))

    def of(self, group: Group, counts: bool) -> tuple[int, list[int]]:
        """Return flags and numbers of a group's own programs; with `counts`, 0 and the numbers of all that count for it."""
        if counts:
            return 0, [program.number for program in self._counting(group)]
        own = self._of.get(group)
        return (0, []) if own is None else (own.flags, [program.number for program in own.programs])

    def _counting(self, group: Group) -> list[Program]:
        found: list[Program] = []
        for each in group.up():
            own = self._of.get(each)
            if own is not None and (not found or own.flags & MULTI):
                found += own.programs
        return found

    def allow(self, group: Group, access: int, kind: int, number: tuple[int, int]) -> bool:
        """Whether a process of a group may open or make a device."""
        return all(program.allows((access << 16 | kind, *number)) for program in self._counting(group))
