"""The verifier's knowledge of a register: a range of numbers, an address in the context or on the stack, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rsg_server.devices.ebpf.instructions import STACK_BYTES

MOST = (1 << 64) - 1


class Kind(Enum):
    """The kind of value in a register."""

    NOTHING = "nothing"
    NUMBER = "number"
    CONTEXT = "context"
    STACK = "stack"


@dataclass(frozen=True, slots=True)
class Value:
    """A number between `least` and `most`, without sign; or an address `least` bytes behind the beginning of its memory."""

    kind: Kind
    least: int = 0
    most: int = 0

    def joined(self, other: Value) -> Value:
        """Return what is known of a value where two ways through the program meet."""
        if self == other:
            return self
        if self.kind is other.kind is Kind.NUMBER:
            return number(min(self.least, other.least), max(self.most, other.most))
        return NOTHING


def number(least: int = 0, most: int = MOST) -> Value:
    """Make a number with known bounds."""
    return Value(Kind.NUMBER, least, most)


NOTHING = Value(Kind.NOTHING)
CONTEXT = Value(Kind.CONTEXT)
FRAME_END = Value(Kind.STACK, STACK_BYTES)


State = tuple[Value, ...]
"""What is known of all registers before an instruction."""
FIRST: State = (NOTHING, CONTEXT, *[NOTHING] * 8, FRAME_END)
"""What is known of the registers before a program's first instruction. The stack contains zeros."""


def joined(one: State, two: State) -> State:
    """Return what is known of the registers where two ways meet."""
    return tuple(first.joined(second) for first, second in zip(one, two, strict=True))


def with_register(state: State, at: int, value: Value) -> State:
    """Return the state with another value in one register."""
    return (*state[:at], value, *state[at + 1 :])
