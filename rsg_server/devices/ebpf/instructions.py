"""Decodes eBPF instructions, and lists the ones that a program about devices may contain (RFC 9669).

Instructions that need more than the program itself are left out: calls, maps, atomic operations on shared memory. The
programs that libcrun and systemd make contain none of these.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

LD, LDX, ST, STX, ALU, JMP, JMP32, ALU64 = range(8)
"""The classes of eBPF instructions: the lowest three bits of the code."""
REGISTER = 0x08
"""The bit of an instruction's code that says that the second operand is a register; otherwise it is the immediate number."""
MODE_MEM = 0x60
SIZES = {0x00: 4, 0x08: 2, 0x10: 1, 0x18: 8}
ADD, SUB, MUL, DIV, OR, AND, LSH, RSH, NEG, MOD, XOR, MOV, ARSH, END = (code << 4 for code in range(14))
JA, JEQ, JGT, JGE, JSET, JNE, JSGT, JSGE, CALL, EXIT, JLT, JLE, JSLT, JSLE = (code << 4 for code in range(14))
WIDE = 0x18
"""The code of the only instruction of 16 bytes. It loads a number of 64 bits into a register."""
FRAME = 10
"""The register that contains the address of the stack's end. No instruction may change this register."""
STACK_BYTES = 512
CONTEXT = ("access_type", "major", "minor")
"""The fields of struct bpf_cgroup_dev_ctx, three numbers of 32 bits. Register 1 has its address when a program begins."""
FORMAT = struct.Struct("<BBhi")


@dataclass(frozen=True, slots=True)
class Instruction:
    """An eBPF instruction. `immediate` is signed; in the instruction of 16 bytes it has 64 bits, else 32."""

    code: int
    to: int
    source: int
    offset: int
    immediate: int

    @property
    def kind(self) -> int:
        """The class of the instruction: arithmetic, jump, load, …"""
        return self.code & 7

    @property
    def operation(self) -> int:
        """The part of the code that says which computation or comparison the instruction makes."""
        return self.code & 0xF0

    @property
    def is_register(self) -> bool:
        """Whether the second operand is a register, not the immediate number."""
        return bool(self.code & REGISTER)

    @property
    def size(self) -> int:
        """The number of bytes that the load or store instruction moves."""
        return SIZES[self.code & 0x18]


def decoded(data: bytes) -> list[Instruction]:
    """Decode an eBPF program into its instructions, one for every 8 bytes.

    The second half of an instruction of 16 bytes becomes an instruction with the code 0.
    """
    found = []
    for code, registers, offset, immediate in FORMAT.iter_unpack(data):
        found.append(Instruction(code, registers & 15, registers >> 4, offset, immediate))
    return found
