"""The verifier takes what programs about devices are, and the machine computes as the kernel does."""

from __future__ import annotations

import contextlib
import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.devices.ebpf import RefusedError
from rsg_server.devices.ebpf import instructions as of
from rsg_server.devices.ebpf.instructions import decoded
from rsg_server.devices.ebpf.machine import run
from rsg_server.devices.ebpf.verifier import verify
from tests.unit.rsg_server.devices import linux_bpf

needs_linux = pytest.mark.skipif(not linux_bpf.is_there(), reason="this user may not load programs into the kernel")
BYTE, HALF, WORD, LONG = 0x10, 0x08, 0x00, 0x18
EXIT = (of.JMP | of.EXIT, 0, 0, 0, 0)
Parts = tuple[int, int, int, int, int]


def assembled(*parts: Parts) -> bytes:
    """A program of instructions: code, register written, register read, offset, number."""
    return b"".join(struct.pack("<BBhi", code, source << 4 | to, offset, number) for code, to, source, offset, number in parts)


def imm(operation: int, to: int, number: int, kind: int = of.ALU64) -> Parts:
    return kind | operation, to, 0, 0, number


def reg(operation: int, to: int, source: int, kind: int = of.ALU64) -> Parts:
    return kind | operation | of.REGISTER, to, source, 0, 0


def load(size: int, to: int, source: int, offset: int) -> Parts:
    return of.LDX | of.MODE_MEM | size, to, source, offset, 0


def jump(operation: int, to: int, number: int, offset: int, kind: int = of.JMP) -> Parts:
    return kind | operation, to, 0, offset, number


def errno_of(program: bytes) -> int:
    """What the verifier says: 0, or a negative errno."""
    try:
        verify(decoded(program))
    except RefusedError as error:
        return -error.number
    return 0


ALLOW = (imm(of.MOV, 0, 1), EXIT)
REFUSED = {
    "empty": ((), errno.E2BIG),
    "falls off its end": ((imm(of.MOV, 0, 1),), errno.EINVAL),
    "answers 2": ((imm(of.MOV, 0, 2), EXIT), errno.EINVAL),
    "answers what is not known": ((load(WORD, 0, 1, 4), EXIT), errno.EINVAL),
    "answers an address": ((reg(of.MOV, 0, 1), EXIT), errno.EINVAL),
    "answers nothing": ((EXIT,), errno.EACCES),
    "reads a register without a value": ((reg(of.MOV, 0, 3), EXIT), errno.EACCES),
    "writes register 10": ((imm(of.MOV, 10, 1), *ALLOW), errno.EACCES),
    "reads behind the context": ((load(WORD, 2, 1, 12), *ALLOW), errno.EACCES),
    "reads before the context": ((load(WORD, 2, 1, -4), *ALLOW), errno.EACCES),
    "reads the context askew": ((load(WORD, 2, 1, 2), *ALLOW), errno.EACCES),
    "reads half a number": ((load(HALF, 2, 1, 4), *ALLOW), errno.EACCES),
    "reads two numbers at once": ((load(LONG, 2, 1, 0), *ALLOW), errno.EACCES),
    "writes into the context": (((of.ST | of.MODE_MEM | WORD, 1, 0, 0, 1), *ALLOW), errno.EACCES),
    "writes above the stack": (((of.ST | of.MODE_MEM | WORD, 10, 0, 0, 1), *ALLOW), errno.EACCES),
    "writes below the stack": (((of.ST | of.MODE_MEM | WORD, 10, 0, -516, 1), *ALLOW), errno.EACCES),
    "shifts too far": ((imm(of.MOV, 0, 1), imm(of.LSH, 0, 64), EXIT), errno.EINVAL),
    "divides by 0": ((imm(of.MOV, 0, 1), imm(of.DIV, 0, 0), EXIT), errno.EINVAL),
    "jumps out of itself": ((imm(of.MOV, 0, 1), jump(of.JEQ, 0, 1, 5), EXIT), errno.EINVAL),
    "has what is never reached": ((*ALLOW, *ALLOW), errno.EINVAL),
    "has an unknown code": (((0xFF, 0, 0, 0, 0), *ALLOW), errno.EINVAL),
    "uses a register 11": ((imm(of.MOV, 11, 1), *ALLOW), errno.EINVAL),
    "sets reserved fields": (((of.ALU64 | of.MOV, 0, 0, 7, 1), EXIT), errno.EINVAL),
    "has half of a wide number": (((of.WIDE, 0, 0, 0, 1),), errno.EINVAL),
    "moves its context": ((imm(of.ADD, 1, 4), load(WORD, 2, 1, 4), *ALLOW), errno.EACCES),
    "loops without end": ((imm(of.MOV, 0, 1), jump(of.JA, 0, 0, -2), EXIT), errno.EINVAL),
}
TAKEN = {
    "allows": ALLOW,
    "reads parts of the type": ((load(HALF, 2, 1, 0), load(BYTE, 3, 1, 2), *ALLOW)),
    "answers one bit": ((load(WORD, 0, 1, 4), imm(of.AND, 0, 1), EXIT)),
    "answers by two ways": ((load(WORD, 2, 1, 4), imm(of.MOV, 0, 0), jump(of.JEQ, 2, 195, 1), imm(of.MOV, 0, 1), EXIT)),
    "uses its stack": (((of.ST | of.MODE_MEM | LONG, 10, 0, -8, 1), load(LONG, 2, 10, -8), *ALLOW)),
    "has a wide number": (((of.WIDE, 0, 0, 0, 1), (0, 0, 0, 0, 0), EXIT)),
    "moves on its stack": (
        (reg(of.MOV, 2, 10), imm(of.ADD, 2, -8), (of.ST | of.MODE_MEM | LONG, 2, 0, 0, 1), load(LONG, 3, 10, -8), *ALLOW)
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_linux_refuses_is_refused(name: str) -> None:
    parts, code = REFUSED[name]
    assert errno_of(assembled(*parts)) == -code


@pytest.mark.parametrize("name", TAKEN)
def test_what_linux_takes_is_taken(name: str) -> None:
    assert errno_of(assembled(*TAKEN[name])) == 0


@needs_linux
@pytest.mark.parametrize("name", [*REFUSED, *TAKEN])
def test_linux_says_the_same(name: str) -> None:
    parts = REFUSED[name][0] if name in REFUSED else TAKEN[name]
    assert linux_bpf.verdict(assembled(*parts)) == errno_of(assembled(*parts))


# Programs as Slurm and libcrun write them

rules = st.lists(
    st.tuples(st.sampled_from([0, 1, 2]), st.none() | st.integers(0, 4095), st.none() | st.integers(0, 9), st.booleans()),
    max_size=12,
)


def program_of(wanted: list[tuple[int, int | None, int | None, bool]], otherwise: bool) -> bytes:
    """For each rule: its type (0: any), major and minor number (None: any), and what to answer."""
    parts = [load(WORD, 2, 1, 0), imm(of.AND, 2, 0xFFFF, of.ALU), load(WORD, 3, 1, 0), imm(of.RSH, 3, 16, of.ALU)]
    parts += [load(WORD, 4, 1, 4), load(WORD, 5, 1, 8)]
    for kind, major, minor, answer in wanted:
        tests = [(register, value) for register, value in ((2, kind or None), (4, major), (5, minor)) if value is not None]
        parts += [jump(of.JNE, register, value, len(tests) - at + 1) for at, (register, value) in enumerate(tests)]
        parts += [imm(of.MOV, 0, int(answer)), EXIT]
        if not tests:  # the rest would never be reached
            return assembled(*parts)
    return assembled(*parts, imm(of.MOV, 0, int(otherwise)), EXIT)


@given(rules, st.booleans(), st.sampled_from([1, 2]), st.integers(0, 4095), st.integers(0, 9))
def test_the_first_rule_that_fits_decides(
    wanted: list[tuple[int, int | None, int | None, bool]], otherwise: bool, kind: int, major: int, minor: int
) -> None:
    program = decoded(program_of(wanted, otherwise))
    verify(program)
    found = (
        answer for type_, *at, answer in wanted if type_ in (0, kind) and at[0] in (None, major) and at[1] in (None, minor)
    )
    assert run(program, (2 << 16 | kind, major, minor)) == next(found, otherwise)


# Any program

sizes = st.sampled_from([BYTE, HALF, WORD, LONG])
registers = st.integers(0, 10)
numbers = st.integers(-(1 << 31), (1 << 31) - 1)
computing = st.builds(
    lambda operation, kind, is_register, to, source, number: (
        kind | operation | (of.REGISTER if is_register else 0),
        to,
        source if is_register else 0,
        0,
        0 if is_register else number,
    ),
    st.sampled_from([of.ADD, of.SUB, of.MUL, of.DIV, of.OR, of.AND, of.LSH, of.RSH, of.MOD, of.XOR, of.MOV, of.ARSH]),
    st.sampled_from([of.ALU, of.ALU64]),
    st.booleans(),
    st.integers(2, 5),
    st.integers(2, 5),
    numbers | st.integers(0, 70),
)
swapping = st.builds(
    lambda kind, bits, to: (kind | of.END | (of.REGISTER if kind == of.ALU else 0), to, 0, 0, bits),
    st.sampled_from([of.ALU]),
    st.sampled_from([16, 32, 64]),
    st.integers(2, 5),
)
negating = st.builds(lambda kind, to: (kind | of.NEG, to, 0, 0, 0), st.sampled_from([of.ALU, of.ALU64]), st.integers(2, 5))
comparing = st.builds(
    lambda operation, kind, to, number, offset: jump(operation, to, number, offset, kind),
    st.sampled_from([of.JEQ, of.JGT, of.JGE, of.JSET, of.JNE, of.JSGT, of.JSGE, of.JLT, of.JLE, of.JSLT, of.JSLE]),
    st.sampled_from([of.JMP, of.JMP32]),
    st.integers(2, 5),
    numbers,
    st.integers(0, 2),
)
anything = st.tuples(st.integers(0, 255), registers, registers, st.integers(-16, 16), numbers | st.integers(0, 2))
straight = st.lists(st.one_of(computing, swapping, negating), max_size=12)


@given(st.lists(st.one_of(computing, comparing, swapping, anything), max_size=12))
def test_what_is_verified_ends_with_an_answer(parts: list[Parts]) -> None:
    program = decoded(assembled(*(imm(of.MOV, register, 7) for register in range(2, 6)), *parts, *ALLOW))
    with contextlib.suppress(RefusedError):
        verify(program)
        assert run(program, (0x20002, 195, 0)) in (0, 1)


@needs_linux
@given(straight, st.lists(numbers, min_size=4, max_size=4), st.booleans())
def test_arithmetic_is_that_of_linux(parts: list[Parts], at_first: list[int], upper: bool) -> None:
    """Of each of four registers' halves that are computed with, and read at the end."""
    begin = [imm(of.MOV, register, number) for register, number in zip(range(2, 6), at_first, strict=True)]
    fold = [reg(of.XOR, 2, register) for register in (3, 4, 5)]
    program = assembled(*begin, *parts, *fold, *([imm(of.RSH, 2, 32)] if upper else []), reg(of.MOV, 0, 2), EXIT)
    try:
        wanted = linux_bpf.answer(program)
    except OSError:  # a shift that is too long, a division by 0
        return
    assert run(decoded(program), (0, 0, 0)) == wanted
