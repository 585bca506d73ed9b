"""The eBPF programs that decide which devices the processes of a cgroup may open or make (kernel/bpf/cgroup.c of Linux).

A program gets a number when it is loaded; equal programs get the same one. A group has no program, one, or (with the
flag ALLOW_MULTI) up to 64. An access of a process is decided by the programs of the process's own group. If that group
has no program, the programs of the nearest group above that has some decide. The programs of all groups above with
ALLOW_MULTI decide as well. An access is allowed if each of these programs answers 1.
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
"""The bits of access_type, the field of struct bpf_cgroup_dev_ctx that says what a process wants to do with the device."""


class Group(Protocol):
    """The part of a cgroup (rsg_server/cgroups/group.py) that is used here: the way up to the root."""

    def up(self) -> Iterator[Self]:
        """Yield this cgroup, then the group above it, and so on up to the root."""


@dataclass(eq=False, slots=True)
class Program:
    """A verified program, and its earlier answers. An answer depends on the context (access, device number) only."""

    number: int
    instructions: list[Instruction]
    answers: dict[tuple[int, int, int], bool] = field(default_factory=dict)

    def allows(self, context: tuple[int, int, int]) -> bool:
        """Return whether the program allows an access, by answering 1."""
        if context not in self.answers:
            from rsg_server.devices.ebpf.machine import run  # imported late, since few runs have such programs

            self.answers[context] = bool(run(self.instructions, context) & 1)
        return self.answers[context]


@dataclass(eq=False, slots=True)
class Attached:
    """The programs that are attached to one cgroup, and the flags with which they were attached."""

    flags: int
    programs: list[Program]


class Programs:
    """All eBPF programs of a run, and which cgroups have some. `tell` tells the shims how many cgroups have programs."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell
        self._by_content: dict[bytes, Program] = {}
        self._by_number: dict[int, Program] = {}
        self._of: dict[Group, Attached] = {}
        self.parts: dict[int, bytes] = {}
        """The parts of a program that an actor has sent so far, by the actor's number."""

    @property
    def are_used(self) -> bool:
        """Whether any cgroup has a program."""
        return bool(self._of)

    def load(self, content: bytes) -> int:
        """Verify a program, and return its number. Raises RefusedError if it may not run."""
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
        """Return the program with a number. Raises RefusedError if there is none."""
        if number not in self._by_number:
            raise RefusedError(otherwise)
        return self._by_number[number]

    def attach(self, group: Group, number: int, flags: int, replaced: int) -> None:
        """Attach a program to a cgroup. Raises RefusedError if the flags or the programs of a cgroup above forbid it."""
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
        """Return whether the nearest cgroup above that has programs allows the groups below to have programs of their own."""
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
        """Detach a program from a cgroup. If the cgroup has a single program, it need not be named. Raises RefusedError."""
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
        """Forget the programs of a cgroup that has been removed."""
        if self._of.pop(group, None) is not None:
            self._tell(len(self._of))

    def of(self, group: Group, counts: bool) -> tuple[int, list[int]]:
        """Return the flags and the numbers of a cgroup's own programs; with `counts`, 0 and the numbers of all programs
        that decide about accesses of its processes.
        """
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
        """Return whether a process of a cgroup may open or make a device."""
        return all(program.allows((access << 16 | kind, *number)) for program in self._counting(group))
