"""The places of a run at which reality could have chosen otherwise, and the alternatives that each place has.

Alternative 0 is always what a run without choices does. `docs/reference/choices.md` says why each alternative is legal.
"""

from __future__ import annotations

from typing import Final

TURN: Final = "turn"
"""Which of several ready actors has the next turn: its place in the line, in the order of becoming ready."""
SLICE: Final = "slice"
"""After how many prices of a system call a turn ends at a call, up to LONGEST_SLICE."""
DELAY: Final = "delay"
"""How much longer than its latency a segment, packet or datagram takes, as an index of `DELAYS_NS`."""
PLACES: Final = (TURN, SLICE, DELAY)

LONGEST_SLICE: Final = 256
"""The longest turn that ends at a call, in prices of a system call; 0 stands for a turn that ends when its holder waits."""
DELAYS_NS: Final = (0, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
"""Delays in virtual nanoseconds: from less than a hand-over to a tenth of a second, half of TCP's shortest time-out."""
