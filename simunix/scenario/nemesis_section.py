"""The key `nemesis:` of a scenario: which faults the seeds of an exploration may cause, when, and how many at one time."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from simunix.scenario.section import Duration, HostList, Section

FaultKind = Literal["power", "partition", "link", "slow", "loss", "storage", "clock", "drift", "kill", "stop"]
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


class NemesisSection(Section):
    """Faults by seed. Each seed draws which of `faults` occur, and how often; a run outside of an exploration has none
    of them.

    The first fault comes at `start` or later; the mean interval between faults is `every`. Each fault hits one of
    `hosts`, or the network between them. At `heal`, all faults are repaired, and no more come. At most `at_most` of
    `hosts` are affected at one time. `power`: a host's power is cut, and comes back. `partition`: a host, or half of
    the hosts, is cut off from the others. `link`: a host's link is down. `slow`: the latency of a host's link is 1 to
    500 ms longer. `loss`: 1 to 50 % of the datagrams to and from a host are lost. `storage`: a storage of a host is
    full, failing, read-only or slow. `clock`: the wall clock of a host is up to an hour ahead or behind.
    `drift`: the wall clock of a host gains or loses 50, 500 or 5000 microseconds each second, until it is set right.
    `kill`: a process of `processes` that has `restart` is killed, and started again. `stop`: a process of `processes`
    does not run for a while (SIGSTOP, SIGCONT).
    """

    hosts: HostList | None = None
    faults: Annotated[tuple[FaultKind, ...], Field(min_length=1, strict=False)] = FAULT_KINDS
    start: Duration = 10**9
    every: Duration = 10 * 10**9
    heal: Duration = 60 * 10**9
    at_most: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _check(self) -> NemesisSection:
        if self.heal <= self.start:
            raise ValueError("heal: expected a moment behind start, when the faults begin")
        if self.every == 0:
            raise ValueError("every: expected a time above 0")
        return self
