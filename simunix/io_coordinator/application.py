"""What the coordinator knows of an application: what it has declared, and what has been seen of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Application:
    """Times are in nanoseconds of the coordinator's clock. `number` is the application's own, and breaks ties.

    `alone_ns` is how long it takes without others (0: not known); `computed_ns` and `io_ns` are what it has done so far, seen
    from outside: between RELEASE and REQUEST it computes, between GRANT and RELEASE it reads and writes.
    """

    number: int
    alone_ns: int
    group: str
    began_ns: int
    since_ns: int  # of what it does now: compute, wait, read and write
    computed_ns: int = 0
    io_ns: int = 0
    ended_phase_ns: int = 0  # what it had done when its last I/O phase was over
    phases: int = 0
    bytes_wanted: int = 0
    order: int = 0
    requested_ns: int | None = None  # when it asked for the phase that it waits for, or is in
    is_granted: bool = False

    def requests(self, now_ns: int, size_bytes: int, order: int) -> None:
        """An I/O phase wants to begin."""
        self.computed_ns += now_ns - self.since_ns
        self.since_ns = self.requested_ns = now_ns
        self.bytes_wanted, self.order = size_bytes, order

    def granted(self, now_ns: int) -> None:
        """The I/O phase begins."""
        self.is_granted = True
        self.since_ns = now_ns

    def released(self, now_ns: int) -> None:
        """The I/O phase is over."""
        self.io_ns += now_ns - self.since_ns
        self.since_ns = now_ns
        self.requested_ns = None
        self.is_granted = False
        self.ended_phase_ns = self.computed_ns + self.io_ns
        self.phases += 1

    @property
    def remaining_ns(self) -> int:
        """What it still had to do on its own when its last phase was over; 0 if nobody knows."""
        return max(0, self.alone_ns - self.ended_phase_ns)

    def stretch(self, now_ns: int) -> float:
        """How many times longer than alone what it has done so far has taken."""
        done_ns = self.computed_ns + self.io_ns
        return (now_ns - self.began_ns) / done_ns if done_ns else 1.0

    def io_share(self, now_ns: int) -> float:
        """The part of its time so far in which it has read and written."""
        return self.io_ns / (now_ns - self.began_ns) if now_ns > self.began_ns else 0.0
