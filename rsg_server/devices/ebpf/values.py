"""Describes the knowledge of the eBPF verifier about a register: a range of numbers, an address in the context or on
the stack, or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rsg_server.devices.ebpf.instructions import STACK_BYTES

MOST = (1 << 64) - 1


class Kind(Enum):
    """The kinds of values that a register can have, as far as the verifier knows."""

    NOTHING = "nothing"
    NUMBER = "number"
    CONTEXT = "context"
    STACK = "stack"


@dataclass(frozen=True, slots=True)
class Value:
    """The verifier's knowledge about a value: a number from `least` to `most`, both without sign, or an address.

    An address lies `least` bytes behind the beginning of its memory.
    """

    kind: Kind
    least: int = 0
    most: int = 0

    def joined(self, other: Value) -> Value:
        """Return what holds for a value that is this one or `other`: where two ways through the program meet, either
        may be there.
        """
        if self == other:
            return self
        if self.kind is other.kind is Kind.NUMBER:
            return number(min(self.least, other.least), max(self.most, other.most))
        return NOTHING


def number(least: int = 0, most: int = MOST) -> Value:
    """Return the knowledge that a value is a number from `least` to `most`."""
    return Value(Kind.NUMBER, least, most)


NOTHING = Value(Kind.NOTHING)
CONTEXT = Value(Kind.CONTEXT)
FRAME_END = Value(Kind.STACK, STACK_BYTES)


State = tuple[Value, ...]
"""What the verifier knows of all registers before an instruction, by the register's number."""
FIRST: State = (NOTHING, CONTEXT, *[NOTHING] * 8, FRAME_END)
"""What the verifier knows before a program's first instruction: registers 1 and 10 have addresses. The stack contains zeros."""


def joined(one: State, two: State) -> State:
    """Return what holds for all registers where two ways through the program meet."""
    return tuple(first.joined(second) for first, second in zip(one, two, strict=True))


def with_register(state: State, at: int, value: Value) -> State:
    """Return a state in which one register has another value."""
    return (*state[:at], value, *state[at + 1 :])
