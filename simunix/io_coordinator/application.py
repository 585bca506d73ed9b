"""What the I/O coordinator knows of an application: what the application declared, and what the coordinator has
observed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Application:
    """An application of the I/O coordinator. Times are nanoseconds of the coordinator's clock. `number` identifies the
    application and breaks ties.

    `alone_ns` is how long the application takes when nothing else uses the disk (0: unknown). `computed_ns` and `io_ns`
    are the times that it has computed and done I/O so far. As the coordinator sees it, the application computes from
    RELEASE to REQUEST, and does I/O from GRANT to RELEASE.
    """

    number: int
    alone_ns: int
    group: str
    began_ns: int
    since_ns: int  # when the present activity began: computing, waiting, or reading and writing
    computed_ns: int = 0
    io_ns: int = 0
    ended_phase_ns: int = 0  # the time computed and spent on I/O up to the end of the last I/O phase
    phases: int = 0
    bytes_wanted: int = 0
    order: int = 0
    requested_ns: int | None = None  # when the application requested the I/O phase that it waits for or performs
    is_granted: bool = False

    def requests(self, now_ns: int, size_bytes: int, order: int) -> None:
        """Note that the application requests an I/O phase from the coordinator, at a moment in nanoseconds."""
        self.computed_ns += now_ns - self.since_ns
        self.since_ns = self.requested_ns = now_ns
        self.bytes_wanted, self.order = size_bytes, order

    def granted(self, now_ns: int) -> None:
        """Note that the coordinator has granted the application's I/O phase, at a moment in nanoseconds."""
        self.is_granted = True
        self.since_ns = now_ns

    def released(self, now_ns: int) -> None:
        """Note that the application's I/O phase is over, at a moment in nanoseconds."""
        self.io_ns += now_ns - self.since_ns
        self.since_ns = now_ns
        self.requested_ns = None
        self.is_granted = False
        self.ended_phase_ns = self.computed_ns + self.io_ns
        self.phases += 1

    @property
    def remaining_ns(self) -> int:
        """The nanoseconds of work that the application still had to do at the end of its last I/O phase; 0 if its total
        is unknown.
        """
        return max(0, self.alone_ns - self.ended_phase_ns)

    def stretch(self, now_ns: int) -> float:
        """Return the stretch: the time that the application has taken so far, divided by the time that its work so far
        takes without others.
        """
        done_ns = self.computed_ns + self.io_ns
        return (now_ns - self.began_ns) / done_ns if done_ns else 1.0

    def io_share(self, now_ns: int) -> float:
        """Return the part of the application's time so far in which it has read and written."""
        return self.io_ns / (now_ns - self.began_ns) if now_ns > self.began_ns else 0.0
