"""What the submitter of a workload needs to know of an RJMS: the commands of its users. Each RJMS fills in a `Clients`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simunix.workload.job import Job


@dataclass(frozen=True, slots=True)
class Choice:
    """How one job is submitted, besides its size and time; None and () leave it to the RJMS.

    `client` is one of `Clients.names`. `is_held`: it waits until it is released.
    """

    client: str
    partition: str | None = None
    qos: str | None = None
    account: str | None = None
    nice: int | None = None
    priority: int | None = None
    is_held: bool = False
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clients:
    """The seam between workloads and an RJMS. Commands are run on a host of the cluster; all words are literal.

    * `names`: the clients that jobs may be submitted with, the usual one first; `staying` of them stay until their job has
      ended, and tell no number.
    * `command`: submits a job; prints the job's number as the first word of its output (behind which `;` may follow).
    * `named`: the option that gives a job its name, from the trace's number; `after` and `array`, with `{}` for numbers, those
      that make it wait for another's end (its number) and submit it several times (the last index, from 0 on): elements are
      then called NUMBER_INDEX. At most `array_max` at once.
    * `queue`: prints nothing when the queue is empty. `unfinished`: prints the number of each job, and array element, that has
      not ended, on a line of its own.
    * `ended`: with the number for `{}`, prints something of a job in which `end_pattern` finds when it ended, in local time.
    * `release`: with the number for `{}`, lets a held job go.
    """

    names: tuple[str, ...]
    staying: frozenset[str]
    command: Callable[[Job, Choice], tuple[str, ...]]
    named: Callable[[int], str]
    after: str
    array: str
    array_max: int
    queue: tuple[str, ...]
    unfinished: tuple[str, ...]
    ended: tuple[str, ...]
    end_pattern: str
    release: tuple[str, ...]
