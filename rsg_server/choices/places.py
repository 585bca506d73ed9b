"""The places of a run at which reality could have chosen otherwise, and the alternatives that each place has.

Alternative 0 is always what a run without choices does. `docs/reference/choices.md` says why each alternative is legal.
"""

from __future__ import annotations

from typing import Final

TURN: Final = "turn"
"""Which of several ready actors has the next turn: its place in the line, in the order of becoming ready."""
SLICE: Final = "slice"
"""After how many prices of a system call a turn ends at a call, up to LONGEST_SLICE."""
PAUSE: Final = "pause"
"""How long an actor that is next is kept from running, as an index of `PAUSES_NS`."""
DELAY: Final = "delay"
"""How much longer than its latency a segment, packet or datagram takes, as an index of `DELAYS_NS`."""
CUT: Final = "cut"
"""Whether bytes of a connection leave as one segment or as two, as an index of `CUTS`."""
WAKE: Final = "wake"
"""Which of several waiters of a futex is woken: its place in the order of their arrival."""
TIE: Final = "tie"
"""Whether a time-out comes first (0), or after what else is due at the same moment (1)."""
LOSE: Final = "lose"
"""What a power cut loses: how many of the last changes of names on a disk; of a file, one of `LOST` sets of unsynced blocks."""
PLACES: Final = (TURN, SLICE, PAUSE, DELAY, CUT, WAKE, TIE, LOSE)

LONGEST_SLICE: Final = 256
"""The longest turn that ends at a call, in prices of a system call; 0 stands for a turn that ends when its holder waits."""
DELAYS_NS: Final = (0, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
"""Delays in virtual nanoseconds: from less than a hand-over to a tenth of a second, half of TCP's shortest time-out."""
PAUSES_NS: Final = (0, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
"""Pauses in virtual nanoseconds: from an interrupt to what a busy computer does to a process now and then."""
LOST: Final = 64
"""Of how many sets of unsynced blocks of a file one may be lost: 0 none, 1 all, others: rsg_server/storage/survivors.py."""
FIRST_BYTE: Final = "after the first byte"
HALF: Final = "in the middle"
LAST_BYTE: Final = "before the last byte"
CUTS: Final = (
    ("", 0),
    *((where, late_ns) for late_ns in (0, 1_000_000, 50_000_000) for where in (FIRST_BYTE, HALF, LAST_BYTE)),
)
"""Where bytes are cut, and how many virtual nanoseconds later than the first part the rest leaves; alternative 0: nowhere."""
