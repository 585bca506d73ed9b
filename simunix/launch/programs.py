"""Whether a program can be emulated at all: static, setuid and foreign ones cannot, and are named before a run."""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path
from typing import BinaryIO

from simunix.roots.tree import THIS_COMPUTER, RootTree

ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
PT_INTERP = 3
EM_X86_64 = 62
SCRIPT_DEPTH = 4


def find_program(name: str, path: str, directory: str, tree: RootTree = THIS_COMPUTER) -> Path | None:
    """The file that execvp would run in a root, as it is called on this computer; None if there is none."""
    folders = [directory] if "/" in name else [folder or directory for folder in path.split(":")]
    for folder in folders:
        try:
            candidate = tree.locate(os.path.join(directory, folder, name))
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return candidate
        except OSError:
            continue
    return None


def check_program(name: str, path: str, directory: str = "/", tree: RootTree = THIS_COMPUTER) -> str | None:
    """Why a program of a root cannot be emulated, as one line; None if it can."""
    program = find_program(name, path, directory, tree)
    if program is None:
        where = "" if tree == THIS_COMPUTER else f" in the root {tree.path}"
        return f"{name}: no such program{where}; install it or give its full path"
    for _ in range(SCRIPT_DEPTH):
        try:
            with program.open("rb") as file:
                head = file.read(4096)
                if head.startswith(b"\x7fELF"):
                    return _check_elf(program, head, _segments(file, head))
        except PermissionError:
            return f"{program}: not readable, so it cannot be checked; run as a user that may read it"
        if not head.startswith(b"#!"):
            return None
        words = head[2:].split(b"\n", 1)[0].split()
        if not words:
            return None
        interpreter = os.fsdecode(words[0])
        if not tree.has(interpreter):
            return f"{name}: its interpreter {interpreter} does not exist"
        program = tree.locate(interpreter)
    return None


def _segments(file: BinaryIO, head: bytes) -> bytes:
    fields = ELF_HEADER.unpack_from(head)
    file.seek(fields[5])
    return file.read(fields[9] * fields[10])


def _check_elf(program: Path, head: bytes, segments: bytes) -> str | None:
    fields = ELF_HEADER.unpack_from(head)
    if head[4] != 2 or fields[2] != EM_X86_64:
        return f"{program}: not an x86-64 program; simunix emulates x86-64 Linux only"
    status = program.stat()
    if status.st_mode & (stat.S_ISUID | stat.S_ISGID) and os.geteuid() != 0:
        return f"{program}: setuid: the loader would drop the shim; run a copy without the setuid bit, or run as root"
    count = len(segments) // PROGRAM_HEADER.size
    kinds = {PROGRAM_HEADER.unpack_from(segments, index * PROGRAM_HEADER.size)[0] for index in range(count)}
    if PT_INTERP not in kinds:
        return f"{program}: statically linked: no loader to bring the shim in; use a dynamically linked build"
    return None
