"""Runs a verified eBPF program: eleven registers of 64 bits, a stack, and the context, in one memory.

Arithmetic wraps around. A division by 0 gives 0; a remainder by 0 gives the dividend (RFC 9669, 4.1).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from rsg_server.devices.ebpf import instructions as of
from rsg_server.devices.ebpf.instructions import FRAME, STACK_BYTES, WIDE, Instruction

CONTEXT_AT = 1 << 12
"""The address at which the program sees its context. The stack follows the context."""
STACK_AT = CONTEXT_AT + 4 * len(of.CONTEXT) + 4
Number = Callable[[int, int, int], int]


def signed(value: int, bits: int) -> int:
    """Return an unsigned number of so many bits as a signed one."""
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


OPERATIONS: Mapping[int, Number] = {
    of.ADD: lambda one, two, bits: one + two,
    of.SUB: lambda one, two, bits: one - two,
    of.MUL: lambda one, two, bits: one * two,
    of.DIV: lambda one, two, bits: one // two if two else 0,
    of.OR: lambda one, two, bits: one | two,
    of.AND: lambda one, two, bits: one & two,
    of.LSH: lambda one, two, bits: one << two % bits,
    of.RSH: lambda one, two, bits: one >> two % bits,
    of.NEG: lambda one, two, bits: -one,
    of.MOD: lambda one, two, bits: one % two if two else one,
    of.XOR: lambda one, two, bits: one ^ two,
    of.MOV: lambda one, two, bits: two,
    of.ARSH: lambda one, two, bits: signed(one, bits) >> two % bits,
}
COMPARISONS: Mapping[int, Callable[[int, int, int], bool]] = {
    of.JEQ: lambda one, two, bits: one == two,
    of.JGT: lambda one, two, bits: one > two,
    of.JGE: lambda one, two, bits: one >= two,
    of.JSET: lambda one, two, bits: bool(one & two),
    of.JNE: lambda one, two, bits: one != two,
    of.JSGT: lambda one, two, bits: signed(one, bits) > signed(two, bits),
    of.JSGE: lambda one, two, bits: signed(one, bits) >= signed(two, bits),
    of.JLT: lambda one, two, bits: one < two,
    of.JLE: lambda one, two, bits: one <= two,
    of.JSLT: lambda one, two, bits: signed(one, bits) < signed(two, bits),
    of.JSLE: lambda one, two, bits: signed(one, bits) <= signed(two, bits),
}


class _Run:
    def __init__(self, context: tuple[int, int, int]) -> None:
        self.registers = [0] * 11
        self.registers[1], self.registers[FRAME] = CONTEXT_AT, STACK_AT + STACK_BYTES
        self.memory = bytearray(struct.pack("<4I", *context, 0)) + bytearray(STACK_BYTES)

    def other(self, instruction: Instruction, bits: int) -> int:
        """Return the second operand of an instruction: a register, or the immediate number."""
        value = self.registers[instruction.source] if instruction.is_register else instruction.immediate
        return value & ((1 << bits) - 1)

    def compute(self, instruction: Instruction) -> None:
        """Run an arithmetic instruction, and store its result in the destination register."""
        if instruction.operation == of.END:
            self.registers[instruction.to] = self._swapped(instruction)
            return
        bits = 64 if instruction.kind == of.ALU64 else 32
        mask = (1 << bits) - 1
        one = self.registers[instruction.to] & mask
        self.registers[instruction.to] = OPERATIONS[instruction.operation](one, self.other(instruction, bits), bits) & mask

    def _swapped(self, instruction: Instruction) -> int:
        """Return the value of a byte swap: conversion to little endian (which changes nothing), to big endian, or (in
        class ALU64) the reversal of all bytes.
        """
        size = instruction.immediate // 8
        value = self.registers[instruction.to] & ((1 << 8 * size) - 1)
        swaps = instruction.kind == of.ALU64 or instruction.is_register
        return int.from_bytes(value.to_bytes(size, "little"), "big") if swaps else value

    def is_taken(self, instruction: Instruction) -> bool:
        """Return whether the comparison of a jump instruction holds, so that the jump is taken."""
        bits = 64 if instruction.kind == of.JMP else 32
        one = self.registers[instruction.to] & ((1 << bits) - 1)
        return COMPARISONS[instruction.operation](one, self.other(instruction, bits), bits)

    def move(self, instruction: Instruction) -> None:
        """Run an instruction that loads from memory or stores to it."""
        is_load = instruction.kind == of.LDX
        start = self.registers[instruction.source if is_load else instruction.to] + instruction.offset - CONTEXT_AT
        place = slice(start, start + instruction.size)
        if is_load:
            self.registers[instruction.to] = int.from_bytes(self.memory[place], "little")
            return
        value = self.registers[instruction.source] if instruction.kind == of.STX else instruction.immediate
        self.memory[place] = (value & ((1 << 8 * instruction.size) - 1)).to_bytes(instruction.size, "little")


def run(program: list[Instruction], context: tuple[int, int, int]) -> int:
    """Run a verified program and return its answer: 1 if the access is allowed, else 0.

    `context` contains the numbers access_type, major and minor.
    """
    state, place = _Run(context), 0
    while True:
        instruction = program[place]
        place += 1
        kind = instruction.kind
        if instruction.code == WIDE:
            high = program[place].immediate & 0xFFFFFFFF
            state.registers[instruction.to] = (instruction.immediate & 0xFFFFFFFF) | high << 32
            place += 1
        elif kind in (of.ALU, of.ALU64):
            state.compute(instruction)
        elif kind in (of.LDX, of.ST, of.STX):
            state.move(instruction)
        elif instruction.code == of.JMP | of.EXIT:
            return state.registers[0] & 0xFFFFFFFF
        elif instruction.operation == of.JA:
            place += instruction.immediate if kind == of.JMP32 else instruction.offset
        elif state.is_taken(instruction):
            place += instruction.offset
