"""Instructions of eBPF, decoded from bytes, and the ones that a program about devices may contain (RFC 9669).

Instructions that need something besides the program are left out: calls, maps, atomic operations on shared memory. Programs
that libcrun and systemd make contain none of these.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

LD, LDX, ST, STX, ALU, JMP, JMP32, ALU64 = range(8)
"""The classes of instructions."""
REGISTER = 0x08
"""The bit that is set if the other operand is a register; else it is the immediate number."""
MODE_MEM = 0x60
SIZES = {0x00: 4, 0x08: 2, 0x10: 1, 0x18: 8}
ADD, SUB, MUL, DIV, OR, AND, LSH, RSH, NEG, MOD, XOR, MOV, ARSH, END = (code << 4 for code in range(14))
JA, JEQ, JGT, JGE, JSET, JNE, JSGT, JSGE, CALL, EXIT, JLT, JLE, JSLT, JSLE = (code << 4 for code in range(14))
WIDE = 0x18
"""The code of the only instruction that takes two places: it loads a number of 64 bits into a register."""
FRAME = 10
"""The register with the address of the stack's end. No instruction may change it."""
STACK_BYTES = 512
CONTEXT = ("access_type", "major", "minor")
"""The fields of struct bpf_cgroup_dev_ctx: three numbers of 32 bits, whose address is in register 1 at first."""
FORMAT = struct.Struct("<BBhi")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; `immediate` is signed, and of 64 bits in the wide instruction."""

    code: int
    to: int
    source: int
    offset: int
    immediate: int

    @property
    def kind(self) -> int:
        """The class of the instruction."""
        return self.code & 7

    @property
    def operation(self) -> int:
        """The code of the computation or comparison."""
        return self.code & 0xF0

    @property
    def is_register(self) -> bool:
        """Whether the other operand is a register."""
        return bool(self.code & REGISTER)

    @property
    def size(self) -> int:
        """The number of bytes that a load or store moves."""
        return SIZES[self.code & 0x18]


def decoded(data: bytes) -> list[Instruction]:
    """Decode the instructions of a program, each at its place; the second half of a wide instruction has the code 0."""
    found = []
    for code, registers, offset, immediate in FORMAT.iter_unpack(data):
        found.append(Instruction(code, registers & 15, registers >> 4, offset, immediate))
    return found
