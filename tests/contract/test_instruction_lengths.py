"""csrc/shim/entry/instruction.c says how long instructions are, for code to be moved: as binutils' disassembler does."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import simunix

ROOT = Path(__file__).resolve().parents[2]
SHIM = Path(simunix.__file__).parent / "lib" / "libsimunix.so"
LIBC = Path("/lib/x86_64-linux-gnu/libc.so.6")
LINE = re.compile(r"^\s+[0-9a-f]+:\t((?:[0-9a-f]{2} )+)\s*\t?(.*)$", re.MULTILINE)
PREFIXES = {"bnd", "notrack", "data16", "rex.W", "repz", "cs", "ds", "lock"}
LEAVES = ("j", "call", "ret", "loop", "syscall", "ud2", "int3")
FWAIT = 0x9B
"""An instruction of its own, which the disassembler shows as one with the next."""


class Instruction(ctypes.Structure):
    """As in csrc/shim/entry/entry.h."""

    _fields_ = [("length", ctypes.c_uint), ("displacement", ctypes.c_uint), ("leads_elsewhere", ctypes.c_bool)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if shutil.which("gcc") is None or shutil.which("objdump") is None:
        pytest.skip("gcc or objdump is not installed: apt install gcc libc6-dev binutils")
    target = tmp_path_factory.mktemp("instruction") / "instruction.so"
    source = ROOT / "csrc/shim/entry/instruction.c"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", f"-I{ROOT / 'csrc'}", source, "-o", target], check=True)
    library = ctypes.CDLL(str(target))
    library.instruction_at.restype = Instruction
    return library


def instructions_of(file: Path) -> Iterator[tuple[bytes, str, list[str]]]:
    """The bytes of each instruction, its text, and the words of that without prefixes."""
    text = subprocess.run(["objdump", "-d", "-w", "--insn-width=16", file], capture_output=True, text=True, check=True).stdout
    for code, meaning in LINE.findall(text):
        words = [word for word in meaning.split() if word not in PREFIXES]
        if words and "(bad)" not in meaning and not meaning.startswith(".byte"):
            yield bytes.fromhex(code), meaning, words


def check(library: ctypes.CDLL, file: Path) -> int:
    """Compare all instructions of a file; returns how many of them there are."""
    count = 0
    for code, meaning, words in instructions_of(file):
        if code[0] == FWAIT:
            continue
        found = library.instruction_at(code + b"\x90" * 16)
        told = (found.length, found.displacement != 0, found.leads_elsewhere)
        assert told == (len(code), "(%rip)" in meaning, words[0].startswith(LEAVES)), f"{code.hex(' ')}: {meaning}"
        count += 1
    return count


def test_instructions_of_the_shim(library: ctypes.CDLL) -> None:
    assert check(library, SHIM) > 10000


@pytest.mark.slow
def test_instructions_of_libc(library: ctypes.CDLL) -> None:
    """With those of AVX and AVX-512."""
    if not LIBC.exists():
        pytest.skip(f"{LIBC} is not there")
    assert check(library, LIBC) > 100000
