"""Checks whether an eBPF program may run: it ends, reads only existing memory, and answers 0 or 1 (kernel/bpf/verifier.c).

The verifier of Linux follows each way through a program. The verifier of simunix merges what it knows where two ways
meet, and allows no loops. So simunix refuses (EINVAL) some programs that Linux accepts, but no known program about
devices.
"""

from __future__ import annotations

import errno

from rsg_server.devices.ebpf import RefusedError
from rsg_server.devices.ebpf import instructions as of
from rsg_server.devices.ebpf.instructions import FRAME, STACK_BYTES, WIDE, Instruction
from rsg_server.devices.ebpf.values import FIRST, MOST, Kind, State, Value, joined, number, with_register

MOST_INSTRUCTIONS = 1_000_000
UNARY = (of.NEG, of.END)
ALU_OPERATIONS = tuple(code << 4 for code in range(14))
COMPARISONS = (of.JEQ, of.JGT, of.JGE, of.JSET, of.JNE, of.JSGT, of.JSGE, of.JLT, of.JLE, of.JSLT, of.JSLE)
LONG_JUMP = of.JMP32 | of.JA


def refuse(why: str, code: int = errno.EINVAL) -> RefusedError:
    """Return the error with which the verifier refuses a program."""
    return RefusedError(code, why)


def verify(program: list[Instruction]) -> None:
    """Check each instruction of a program once, in order, which is enough since no jump goes back. Raises RefusedError."""
    if not 0 < len(program) <= MOST_INSTRUCTIONS:
        raise refuse("too long, or empty", errno.E2BIG)
    known: list[State | None] = [None] * len(program)
    known[0] = FIRST
    place = 0
    while place < len(program):
        state, instruction = known[place], program[place]
        if state is None:
            raise refuse(f"instruction {place} is never reached")
        width = 2 if instruction.code == WIDE else 1
        after = _after(instruction, program[place + 1 :: len(program)], state)
        for target in _targets(instruction, place, width):
            if not place < target < len(program):
                raise refuse(f"instruction {place} goes back, or out of the program")
            before = known[target]
            known[target] = after if before is None else joined(before, after)
        if width == 2 and known[place + 1] is not None:
            raise refuse(f"a jump into the middle of instruction {place}")
        place += width


def _targets(instruction: Instruction, place: int, width: int) -> tuple[int, ...]:
    """Return the places of the instructions that can follow an instruction."""
    if instruction.kind not in (of.JMP, of.JMP32):
        return (place + width,)
    if instruction.code == of.JMP | of.EXIT:
        return ()
    if instruction.code == LONG_JUMP:
        return (place + 1 + instruction.immediate,)
    there = place + 1 + instruction.offset
    return (there,) if instruction.operation == of.JA else (place + 1, there)


def _after(instruction: Instruction, following: list[Instruction], state: State) -> State:
    if instruction.to > FRAME or instruction.source > FRAME:
        raise refuse("there are registers up to 10")
    if instruction.code == WIDE:
        return _wide(instruction, following, state)
    if instruction.kind in (of.ALU, of.ALU64):
        return _computed(instruction, state)
    if instruction.kind in (of.JMP, of.JMP32):
        return _jumped(instruction, state)
    if instruction.kind == of.LD or instruction.code & 0xE0 != of.MODE_MEM:
        raise refuse("an instruction that programs about devices do not have")
    return _loaded(instruction, state) if instruction.kind == of.LDX else _stored(instruction, state)


def _wide(instruction: Instruction, following: list[Instruction], state: State) -> State:
    if not following or instruction.source or instruction.offset:
        raise refuse("half an instruction, or one that needs a map")
    second = following[0]
    if (second.code, second.to, second.source, second.offset) != (0, 0, 0, 0):
        raise refuse("reserved fields are not 0")
    value = (instruction.immediate & 0xFFFFFFFF) | (second.immediate & 0xFFFFFFFF) << 32
    return _written(state, instruction.to, number(value, value))


def _written(state: State, register: int, value: Value) -> State:
    if register == FRAME:
        raise refuse("register 10 is only read", errno.EACCES)
    return with_register(state, register, value)


def _read(state: State, register: int) -> Value:
    value = state[register]
    if value.kind is Kind.NOTHING:
        raise refuse(f"register {register} has no value", errno.EACCES)
    return value


def _operand(instruction: Instruction, state: State) -> Value:
    """Return what is known of the second operand of an instruction, and check the instruction's reserved fields."""
    if instruction.is_register:
        if instruction.immediate:
            raise refuse("reserved fields are not 0")
        return _read(state, instruction.source)
    if instruction.source:
        raise refuse("reserved fields are not 0")
    value = instruction.immediate & MOST
    return number(value, value)


def _computed(instruction: Instruction, state: State) -> State:
    operation, is_long = instruction.operation, instruction.kind == of.ALU64
    if operation not in ALU_OPERATIONS or instruction.offset:
        raise refuse("an operation that is not known")
    if operation == of.END:
        if instruction.source or instruction.immediate not in (16, 32, 64) or (is_long and instruction.is_register):
            raise refuse("bytes are swapped in 16, 32 or 64 bits")
        other = number()
    elif operation == of.NEG:
        if instruction.source or instruction.immediate or instruction.is_register:
            raise refuse("reserved fields are not 0")
        other = number()
    else:
        other = _operand(instruction, state)
    first = other if operation == of.MOV else _read(state, instruction.to)
    _check_shift(instruction, is_long)
    return _written(state, instruction.to, _result(instruction, first, other, is_long))


def _check_shift(instruction: Instruction, is_long: bool) -> None:
    """Refuse a shift or division by a constant that is out of range, as Linux does before a program runs."""
    if instruction.is_register:
        return
    if instruction.operation in (of.LSH, of.RSH, of.ARSH) and not 0 <= instruction.immediate < (64 if is_long else 32):
        raise refuse("a shift by more than there are bits")
    if instruction.operation in (of.DIV, of.MOD) and instruction.immediate == 0:
        raise refuse("a division by 0")


def _result(instruction: Instruction, first: Value, other: Value, is_long: bool) -> Value:
    """Return what is known of the result of an arithmetic instruction: enough to see that a program's answer is 0 or 1."""
    operation, limit = instruction.operation, MOST if is_long else 0xFFFFFFFF
    if operation == of.MOV and (is_long or other.kind is Kind.NUMBER):
        is_small = other.most <= limit or other.kind is not Kind.NUMBER
        if is_small:
            return other
        return number(other.least & limit, other.least & limit) if other.least == other.most else number(0, limit)
    if first.kind is not Kind.NUMBER or other.kind is not Kind.NUMBER:
        is_moved = operation in (of.ADD, of.SUB) and other.kind is Kind.NUMBER and other.least == other.most and is_long
        if not is_moved:
            raise refuse("addresses are only moved by constants", errno.EACCES)
        by = other.least - (1 << 64 if other.least >> 63 else 0)
        return Value(first.kind, first.least + (by if operation == of.ADD else -by))
    if operation == of.AND:
        return number(0, min(limit, first.most, other.most & limit))
    if operation == of.RSH and other.least == other.most:
        return number(0, min(limit, first.most) >> other.least)
    return number(0, limit)


def _jumped(instruction: Instruction, state: State) -> State:
    if instruction.code == of.JMP | of.EXIT:
        if instruction.to or instruction.source or instruction.offset or instruction.immediate:
            raise refuse("reserved fields are not 0")
        answer = _read(state, 0)
        if answer.kind is not Kind.NUMBER or answer.most > 1:
            raise refuse("the answer of a program is 0 or 1")
        return state
    if instruction.operation == of.JA:
        is_long = instruction.kind == of.JMP32
        if instruction.is_register or instruction.to or instruction.source:
            raise refuse("reserved fields are not 0")
        if instruction.offset if is_long else instruction.immediate:
            raise refuse("reserved fields are not 0")
        return state
    if instruction.operation not in COMPARISONS:
        raise refuse("there are no functions to be called")
    if any(value.kind is not Kind.NUMBER for value in (_read(state, instruction.to), _operand(instruction, state))):
        raise refuse("addresses are not compared", errno.EACCES)
    return state


def _span(instruction: Instruction, address: Value) -> int:
    """Return where a load or store begins, in bytes from the beginning of the memory that the address register points to."""
    if address.kind is Kind.CONTEXT and address.least:
        raise refuse("the address of the context is used as it is", errno.EACCES)
    start = address.least + instruction.offset
    most = STACK_BYTES if address.kind is Kind.STACK else 4 * len(of.CONTEXT)
    if address.kind not in (Kind.STACK, Kind.CONTEXT) or not 0 <= start <= most - instruction.size or start % instruction.size:
        raise refuse("memory that the program does not have", errno.EACCES)
    return start


def _loaded(instruction: Instruction, state: State) -> State:
    if instruction.immediate:
        raise refuse("reserved fields are not 0")
    address = _read(state, instruction.source)
    start, size = _span(instruction, address), instruction.size
    if address.kind is Kind.CONTEXT and size != 4 and (start >= 4 or size == 8):
        raise refuse("a part of a number of the context", errno.EACCES)
    return _written(state, instruction.to, number(0, (1 << 8 * size) - 1))


def _stored(instruction: Instruction, state: State) -> State:
    address = _read(state, instruction.to)
    _span(instruction, address)
    if address.kind is not Kind.STACK:
        raise refuse("the context is only read", errno.EACCES)
    if instruction.kind == of.STX:
        if instruction.immediate:
            raise refuse("reserved fields are not 0")
        if _read(state, instruction.source).kind is not Kind.NUMBER:
            raise refuse("addresses are not stored")
    elif instruction.source:
        raise refuse("reserved fields are not 0")
    return state
