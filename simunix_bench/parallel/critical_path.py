"""Lower bounds of the time that a run's work takes on many cores, if hosts that cannot have heard of each other run at once.

A run is a parallel discrete-event simulation: hosts are its logical processes, turns its events. The turns of one host stay in
their order, one after the other (its threads share memory and files); turns of two hosts may overlap as far as a rule allows.
Each function is one rule. For messages that take at least the lookahead, the bounds are ordered:

    most of a host ≤ causal ≤ conservative(L) ≤ windowed(L) ≤ total

No rule charges for what running on several cores costs: no barrier, no message between cores, no cache. Turns are given in the
order in which they were run, which is that of their virtual times.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn: the virtual moment of its beginning, its host, and what it costs in nanoseconds of processor time."""

    time_ns: int
    host: str
    cost_ns: int


@dataclass(frozen=True, slots=True)
class Message:
    """A piece of a stream, a datagram, or a control packet on its way from one host to another, at virtual moments."""

    sent_ns: int
    arrived_ns: int
    source: str
    destination: str


@dataclass(frozen=True, slots=True)
class Windows:
    """The outcome of `windowed`: the number of windows, the hosts that had a turn in one on average, the critical path.

    `on_cores_ns` is the time on a number of cores: of each window the larger of its critical path and its work over the cores.
    """

    count: int
    hosts: float
    critical_ns: int
    on_cores_ns: dict[int, float]


def total(turns: Iterable[Turn]) -> int:
    """Return the work of all turns: the time on one core."""
    return sum(turn.cost_ns for turn in turns)


def most_of_a_host(turns: Iterable[Turn]) -> int:
    """Return the work of the host that has most of it, which no rule can divide."""
    return max(_by_host(turns).values(), default=0)


def windowed(turns: Sequence[Turn], lookahead_ns: int, cores: Sequence[int] = ()) -> Windows:
    """Hosts run through a window of virtual time at once, and wait for each other at its end.

    A window begins at the earliest turn that is left, and is as long as the lookahead: what is sent in it arrives after it.
    With w the work of host h in window i:

        critical = Σ_i max_h w(h, i)        on c cores = Σ_i max(max_h w(h, i), Σ_h w(h, i) / c)

    The second is Graham's lower bound for a schedule of the window. These are the synchronous conservative windows of YAWNS
    (D. M. Nicol, "The cost of conservative synchronization in parallel discrete event simulations", Journal of the ACM 40(2),
    1993; R. M. Fujimoto, "Parallel and Distributed Simulation Systems", Wiley 2000, chapter 3). Shadow runs its hosts so, in
    rounds no longer than the least latency of its network (R. Jansen, J. Newsome, R. Wails, "Co-opting Linux Processes for
    High-Performance Network Simulation", USENIX ATC 2022). A longer lookahead may cut the windows less luckily: the sum need
    not shrink.
    """
    count = critical_ns = had_a_turn = 0
    on_cores_ns = dict.fromkeys(cores, 0.0)
    for window in _windows(turns, lookahead_ns):
        work = _by_host(window)
        most = max(work.values())
        count, had_a_turn, critical_ns = count + 1, had_a_turn + len(work), critical_ns + most
        for number in cores:
            on_cores_ns[number] += max(most, sum(work.values()) / number)
    return Windows(count, had_a_turn / max(count, 1), critical_ns, on_cores_ns)


def conservative(turns: Sequence[Turn], lookahead_ns: int) -> int:
    """A host runs a turn at t once all others have done theirs up to t less the lookahead; no host waits at a barrier.

        end(k) = cost(k) + max( end(turn before k on its host), max { end(j) : t(j) ≤ t(k) − L } )

    The asynchronous conservative rule with null messages (K. M. Chandy, J. Misra, "Distributed simulation: A case study in
    design and verification of distributed programs", IEEE Transactions on Software Engineering SE-5(5), 1979; R. E. Bryant, MIT
    LCS TR-188, 1977), free of charge for the null messages. A longer lookahead never makes it longer.
    """
    ends: dict[str, int] = {}
    done: list[int] = []  # for each turn, when it ends
    behind = known = 0  # turns up to t less the lookahead: how many, and when the last of them ends
    for turn in turns:
        while behind < len(done) and turns[behind].time_ns <= turn.time_ns - lookahead_ns:
            known = max(known, done[behind])
            behind += 1
        end = max(ends.get(turn.host, 0), known) + turn.cost_ns
        ends[turn.host] = end
        done.append(end)
    return max(done, default=0)


def causal(turns: Iterable[Turn], messages: Iterable[Message]) -> int:
    """Return a turn waits for the turn before it on its host, and for the turns that have sent what has arrived by
    then.

        end(k) = cost(k) + max( end(turn before k on its host), max { end(last turn of m's sender by its sending) : m } )

    over all messages m that have arrived by t(k). This is the critical path of the graph of events, which no rule that keeps
    each host in order can beat, however much it knows in advance (O. Berry, D. Jefferson, "Critical path analysis of
    distributed simulation", SCS Conference on Distributed Simulation, 1985).
    """
    arriving = sorted(messages, key=lambda message: message.arrived_ns)
    times: dict[str, list[int]] = {}
    ends: dict[str, list[int]] = {}
    heard: dict[str, int] = {}  # by host, when the latest of the turns ends that it has heard of
    place = 0
    for turn in turns:
        while place < len(arriving) and arriving[place].arrived_ns <= turn.time_ns:
            message = arriving[place]
            place += 1
            before = bisect_right(times.get(message.source, ()), message.sent_ns)
            if before:
                end = ends[message.source][before - 1]
                heard[message.destination] = max(heard.get(message.destination, 0), end)
        own_times, own_ends = times.setdefault(turn.host, []), ends.setdefault(turn.host, [])
        begin = max(own_ends[-1] if own_ends else 0, heard.get(turn.host, 0))
        own_times.append(turn.time_ns)
        own_ends.append(begin + turn.cost_ns)
    return max((own[-1] for own in ends.values()), default=0)


def _by_host(turns: Iterable[Turn]) -> dict[str, int]:
    work: dict[str, int] = {}
    for turn in turns:
        work[turn.host] = work.get(turn.host, 0) + turn.cost_ns
    return work


def _windows(turns: Sequence[Turn], lookahead_ns: int) -> Iterator[Sequence[Turn]]:
    begin = 0
    for place, turn in enumerate(turns):
        if turn.time_ns >= turns[begin].time_ns + lookahead_ns:
            yield turns[begin:place]
            begin = place
    if turns:
        yield turns[begin:]
