"""Decide before a run whether a program can be emulated; programs for other machines cannot.

Static and setuid programs cannot be emulated either, if the kernel does not allow tracing (simunix.roots.tracing).
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from simunix.roots.tracing import tracing_is_allowed
from simunix.roots.tree import THIS_COMPUTER, RootTree

ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
PT_INTERP = 3
EM_X86_64 = 62
SCRIPT_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Identity:
    """The user and the group that run a program. The dynamic loader drops the shim if the program's file gives more
    privilege than they have.
    """

    user: int
    group: int

    @classmethod
    def of(cls, name: str | None = None, tree: RootTree = THIS_COMPUTER) -> Identity:
        """Return the identity of a user by name; the caller's own identity without a name, or if there is no such user."""
        found = tree.user(name) if name else None
        return cls(*found) if found else cls(os.geteuid(), os.getegid())


def find_program(name: str, path: str, directory: str, tree: RootTree = THIS_COMPUTER) -> Path | None:
    """Return the file that execvp(3) would run in a root file system, as its path on this computer; None if there is
    none.
    """
    folders = [directory] if "/" in name else [folder or directory for folder in path.split(":")]
    for folder in folders:
        try:
            candidate = tree.locate(os.path.join(directory, folder, name))
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return candidate
        except OSError:
            continue
    return None


def interpreter_of(head: bytes) -> str | None:
    """Return the interpreter in a script's first line; None if there is none."""
    words = head[2:].split(b"\n", 1)[0].split() if head.startswith(b"#!") else []
    return os.fsdecode(words[0]) if words else None


def check_program(
    name: str, path: str, directory: str = "/", tree: RootTree = THIS_COMPUTER, user: str | None = None
) -> str | None:
    """Return one line that says why a program cannot be emulated when `user` (by default the caller) runs it; None if
    it can.
    """
    program = find_program(name, path, directory, tree)
    if program is None:
        where = "" if tree == THIS_COMPUTER else f" in the root {tree.path}"
        return f"{name}: no such program{where}; install it or give its full path"
    return check_file(program, Identity.of(user, tree), tree)


def check_file(program: Path, identity: Identity, tree: RootTree = THIS_COMPUTER) -> str | None:
    """Return one line that says why a file cannot be emulated; None if it can. For a script, the interpreter is
    checked.
    """
    script = program
    for _ in range(SCRIPT_DEPTH):
        try:
            with program.open("rb") as file:
                head = file.read(4096)
                if head.startswith(b"\x7fELF"):
                    return _check_elf(program, head, _segments(file, head), identity)
        except PermissionError:
            if tracing_is_allowed():
                return None
            return f"{program}: not readable, so it cannot be checked; run as a user that may read it"
        interpreter = interpreter_of(head)
        if interpreter is None:
            return None
        if not tree.has(interpreter):
            return f"{script}: its interpreter {interpreter} does not exist"
        program = tree.locate(interpreter)
    return None


def _segments(file: BinaryIO, head: bytes) -> bytes:
    if len(head) < ELF_HEADER.size:
        return b""
    fields = ELF_HEADER.unpack_from(head)
    file.seek(fields[5])
    return file.read(fields[9] * fields[10])


def _check_elf(program: Path, head: bytes, segments: bytes, identity: Identity) -> str | None:
    if len(head) < ELF_HEADER.size:
        return f"{program}: cut short: {len(head)} bytes are no program; install it again"
    fields = ELF_HEADER.unpack_from(head)
    if head[4] != 2 or fields[2] != EM_X86_64:
        return f"{program}: not an x86-64 program; simunix emulates x86-64 Linux only"
    if tracing_is_allowed():  # the host's first process then injects the shim by ptrace
        return None
    privilege = gained_privilege(program, identity)
    if privilege is not None:
        return f"{program}: {privilege}: the loader would drop the shim, and ptrace(2) is forbidden here; run a copy without"
    count = len(segments) // PROGRAM_HEADER.size
    kinds = {PROGRAM_HEADER.unpack_from(segments, index * PROGRAM_HEADER.size)[0] for index in range(count)}
    if PT_INTERP not in kinds:
        return f"{program}: statically linked, and ptrace(2) is forbidden here; use a dynamically linked build"
    return None


def gained_privilege(program: Path, identity: Identity) -> str | None:
    """Return `setuid`, `setgid` or `file capabilities` if one of these makes the kernel start the program in secure
    mode; None if not.
    """
    status = program.stat()
    if status.st_mode & stat.S_ISUID and status.st_uid != identity.user:
        return "setuid"
    setgid = stat.S_ISGID | stat.S_IXGRP
    if status.st_mode & setgid == setgid and status.st_gid != identity.group:
        return "setgid"
    with contextlib.suppress(OSError):
        if identity.user != 0 and os.getxattr(program, "security.capability"):
            return "file capabilities"
    return None
