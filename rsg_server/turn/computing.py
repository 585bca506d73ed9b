"""Finds an actor that waits for a moment by computing and reading the clock, and lets its CPU time pass in virtual time.

Under the CPU policy `free`, computing takes no virtual time, so a benchmark that runs for two seconds by the clock
would run for ever. Therefore, if an actor has made no calls but clock reads for a long while, the server tells its shim
to let CPU time pass in virtual time from then on. The shim adds the CPU time to the price of each of its clock reads,
until the actor waits for something (csrc/shim/turn/price.c). An actor whose reads cost as much virtual time as CPU time
is let alone, such as a spinner on the time stamp counter (csrc/shim/sys/time/tsc.c). CPU time is that of the real
computer, so the run is no longer deterministic, and run.json says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.process import native_signal
from rsg_server.process.actor import Actor

if TYPE_CHECKING:
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.warner import Warner

PATIENCES = 5
"""After how many times `preempt_after` of computing and clock reads alone the CPU time of an actor begins to pass."""


class Computing:
    """Finds actors that wait for the clock by computing alone, and makes their CPU time pass in virtual time."""

    def __init__(self, shared: SharedMemory, warner: Warner) -> None:
        self.count = 0
        self.is_off = False
        self._shared, self._warner = shared, warner
        # an actor that is watched, and the number of all calls when the watching began
        self._watched: tuple[int, int] | None = None
        self._since_ns = 0
        self._began_ns = 0  # the virtual time when the watching began
        self._reads = 0
        self._is_told = False
        self._unheard: Actor | None = None
        self._unheard_since_ns = 0

    def gave_back(self, actor: Actor) -> None:
        """Note, when an actor gives the turn back on demand, whether its shim has noticed that its CPU time passes."""
        self._unheard = actor if self._shared.turn.is_to_charge(actor.slot) else None
        self._unheard_since_ns = self._since_ns

    def begins(self, actor: Actor) -> None:
        """Begin a turn of an actor: write the request to charge CPU time again if the actor's shim has not noticed it,
        since each new turn clears the request.
        """
        if self._unheard is actor:
            self._unheard = None
            self._shared.turn.charge_computing(actor.slot, self._unheard_since_ns)

    def look(self, actor: Actor, after_ns: int) -> None:
        """Examine an actor that has the turn and sends nothing. If it only computes and reads the clock, tell its shim."""
        if self.is_off:
            return
        counters = self._shared.counters
        seen = (actor.number, counters.system_calls)
        cpu_ns = native_signal.process_cpu_ns(actor.process.global_pid)
        if seen != self._watched:
            self._watched, self._since_ns, self._reads, self._is_told = seen, cpu_ns, counters.clock_reads, False
            self._began_ns = self._shared.clock.now_ns
        elif not self._is_told and counters.clock_reads != self._reads and self._is_late(cpu_ns, PATIENCES * after_ns):
            self._is_told = True
            self._tell(actor)

    def _is_late(self, cpu_ns: int, patience_ns: int) -> bool:
        """Return whether the watched actor has computed for `patience_ns` of CPU time, while less virtual time has passed."""
        computed_ns = cpu_ns - self._since_ns
        return computed_ns >= patience_ns and self._shared.clock.now_ns - self._began_ns < computed_ns

    def _tell(self, actor: Actor) -> None:
        self._shared.turn.charge_computing(actor.slot, self._since_ns)
        if self.count == 0:
            self._warner.on_warning.tell(
                f"{actor!r} computes and reads the clock: its CPU time passes from here on, so this run is not deterministic "
                "(preempt_after)"
            )
        self.count += 1
