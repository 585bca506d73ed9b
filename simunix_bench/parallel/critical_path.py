"""Compute lower bounds of the time that a run's work takes on many cores, if hosts run at the same time whenever none
can have heard of the other.

A run is a parallel discrete-event simulation: hosts are its logical processes, and turns are its events (in a turn, one
thread has the right to run). The turns of one host stay in their order, one after the other, because its threads share
memory and files. Turns of two hosts may overlap as far as a rule allows. Each function below is one rule. For messages
that take at least the lookahead, the bounds are ordered:

    most of a host ≤ causal ≤ conservative(L) ≤ windowed(L) ≤ total

No rule includes the cost of running on several cores: barriers, messages between cores, caches. Turns are given in the
order in which they were run, which is the order of their virtual times.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn: the virtual moment at which it begins, its host, and its cost in nanoseconds of processor time."""

    time_ns: int
    host: str
    cost_ns: int


@dataclass(frozen=True, slots=True)
class Message:
    """A piece of a stream, a datagram, or a control packet from one host to another, with the virtual moments at which
    it was sent and arrived.
    """

    sent_ns: int
    arrived_ns: int
    source: str
    destination: str


@dataclass(frozen=True, slots=True)
class Windows:
    """The result of `windowed`: the number of windows, the mean number of hosts with a turn in a window, and the
    critical path.

    `on_cores_ns` is the time on a number of cores: for each window, the larger of its critical path and its work
    divided by the cores.
    """

    count: int
    hosts: float
    critical_ns: int
    on_cores_ns: dict[int, float]


def total(turns: Iterable[Turn]) -> int:
    """Return the cost of all turns in nanoseconds, which is the time on one core."""
    return sum(turn.cost_ns for turn in turns)


def most_of_a_host(turns: Iterable[Turn]) -> int:
    """Return the cost of the turns of the host with the most work, in nanoseconds; no rule can divide that work."""
    return max(_by_host(turns).values(), default=0)


def windowed(turns: Sequence[Turn], lookahead_ns: int, cores: Sequence[int] = ()) -> Windows:
    """Return the bound for hosts that run through a window of virtual time at the same time, and wait for each other at
    its end.

    A window begins at the earliest remaining turn, and is as long as the lookahead. So a message sent in the window
    arrives after it. With w(h, i) the work of host h in window i:

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
    """Return the bound for hosts that run a turn at time t as soon as all other hosts have done their turns up to t −
    lookahead, without barriers.

        end(k) = cost(k) + max( end(turn before k on its host), max { end(j) : t(j) ≤ t(k) − L } )

    The asynchronous conservative rule with null messages (K. M. Chandy, J. Misra, "Distributed simulation: A case study in
    design and verification of distributed programs", IEEE Transactions on Software Engineering SE-5(5), 1979; R. E. Bryant, MIT
    LCS TR-188, 1977), free of charge for the null messages. A longer lookahead never makes it longer.
    """
    ends: dict[str, int] = {}
    done: list[int] = []  # for each turn, the time at which it ends
    behind = known = 0  # the number of turns up to t less the lookahead, and the time at which the last of them ends
    for turn in turns:
        while behind < len(done) and turns[behind].time_ns <= turn.time_ns - lookahead_ns:
            known = max(known, done[behind])
            behind += 1
        end = max(ends.get(turn.host, 0), known) + turn.cost_ns
        ends[turn.host] = end
        done.append(end)
    return max(done, default=0)


def causal(turns: Iterable[Turn], messages: Iterable[Message]) -> int:
    """Return the bound for turns that wait for the turn before on their host, and for the turns that sent the messages
    arrived by then.

        end(k) = cost(k) + max( end(turn before k on its host), max { end(last turn of m's sender by its sending) : m } )

    over all messages m that have arrived by t(k). This is the critical path of the graph of events, which no rule that keeps
    each host in order can beat, however much it knows in advance (O. Berry, D. Jefferson, "Critical path analysis of
    distributed simulation", SCS Conference on Distributed Simulation, 1985).
    """
    arriving = sorted(messages, key=lambda message: message.arrived_ns)
    times: dict[str, list[int]] = {}
    ends: dict[str, list[int]] = {}
    heard: dict[str, int] = {}  # by host: the latest end of those turns of which it has heard
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
