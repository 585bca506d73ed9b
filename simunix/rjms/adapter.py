"""What simunix needs of an RJMS (resource and job management system). Each RJMS is one folder that implements `Rjms`.

Outside of that folder no part of simunix names an RJMS, its daemons or its commands (tests/contract/test_rjms_seam.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from rsg_server.platform.host import Host
from rsg_server.platform.power import Enclosure
from simunix.launch.plan import FileSpec, PrivateSpec, ProcessSpec
from simunix.launch.view.hardware import Hardware
from simunix.ranges import expand_hosts
from simunix.roots.tree import RootTree
from simunix.scenario.section import CpuPolicy, Section
from simunix.workload.job import Job
from simunix.workload.population import User
from simunix.workload.request import Request


class ClusterSection(Section):
    """What every RJMS's section of a scenario says: the name of the cluster, and how long its daemons' computing takes."""

    cluster: str = "simunix"
    cpu_policy: CpuPolicy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where a cluster is to run. `hardware` and `roots` are by host; relative paths of a scenario are below `folder`.

    The clock of the hosts begins at `epoch_s`. `environment` is what the scenario says for all programs.
    """

    folder: Path
    hosts: Mapping[str, Host]
    hardware: Mapping[str, Hardware]
    roots: Mapping[str, RootTree]
    seed: int
    is_root: bool
    epoch_s: float = 0.0
    environment: Mapping[str, str] = field(default_factory=dict)
    enclosures: tuple[Enclosure, ...] = ()


@dataclass(frozen=True, slots=True)
class PowerCap:
    """What the nodes of a cluster and all enclosures may draw between two moments of the run."""

    start_ns: int
    end_ns: int
    watts: float


# The words of its users


@dataclass(frozen=True, slots=True)
class Choice:
    """How one job is submitted, besides its size and time; None and () leave it to the RJMS.

    `client` is one of `Clients.names`. `is_held`: the job waits until it is released.
    """

    client: str
    partition: str | None = None
    qos: str | None = None
    account: str | None = None
    nice: int | None = None
    priority: int | None = None
    is_held: bool = False
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSubmission:
    """What one command submits of a job table: a job, the components of a heterogeneous job, or, by index, an array's elements.

    Of an array the only part is the first element. `factors` is the path of a file that has the factor of run times on each
    node, in thousandths; "" without such factors.
    """

    parts: tuple[tuple[Job, Choice], ...]
    elements: Mapping[int, Job] = field(default_factory=dict)
    factors: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableClients:
    """How an RJMS is told the jobs of a job table (`simunix.workload.request`).

    * `command`: submits a job with all that its request says but its dependency.
    * `dependency`: a request's dependency, as the submitter needs it (simunix.workload.guest.table_submitter: "clauses").
    * `cancel`: cancels the job whose number stands for `{}`, if the job still waits.
    * `limit_s`: the time limit, in seconds, that the RJMS counts with; None where the request says none, or infinity.
    """

    command: Callable[[TableSubmission], tuple[str, ...]]
    dependency: Callable[[Request], dict[str, Any]]
    cancel: tuple[str, ...]
    limit_s: Callable[[Request], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """The commands of an RJMS's users, run on a host of the cluster. All words of a tuple are literal.

    * `names`: the clients that jobs may be submitted with, the usual one first; `staying` of them stay until their job has
      ended, and tell no number.
    * `command`: submits a job; `number`, a regular expression, finds the job's number in what the command prints, as group 1.
    * `job_name`: the name under which a trace's job is known to the RJMS; `named`: the option that gives a job this name.
    * `limit_s`: the time limit, in seconds, that the RJMS is told for a job; None for no limit.
    * `after`: the words that make a job wait for the end of another, whose number stands for `{}`; () if there are none.
    * `array`: the words that submit a job so many times: elements are then called NUMBER_INDEX, from `first_index` on. At most
      `array_max` at once.
    * `launch`: in a job's script, starts the ranks of the job. `log_name`: the name of a job's log, in the RJMS's own patterns.
    * `queue`: prints nothing when the queue is empty. `unfinished`: prints the number of each job, and array element, that has
      not ended, on a line of its own.
    * `ended`: with the number for `{}`, prints something of a job in which `end_pattern` finds when it ended, in local time.
    * `release`: with the number for `{}`, lets a held job go.
    * `states`: a shell command that prints NAME|STATE|CORES of each job; `running` and `pending` are two of its states.
    * `find_held`: for a list of job names, a shell command that prints the numbers of those jobs that wait, oldest first.
    * `release_all`: releases the jobs whose numbers follow.
    * `number_variable`: the environment variable in which a job's processes find the job's number; "" if there is none.
    * `tables`: how jobs of a job table are submitted; None for an RJMS that is not told what a table says.
    * `nobody`: submits the jobs of no known user; None for root, whom some RJMSs refuse.
    """

    names: tuple[str, ...]
    staying: frozenset[str]
    command: Callable[[Job, Choice], tuple[str, ...]]
    job_name: Callable[[int], str]
    named: Callable[[int], str]
    limit_s: Callable[[Job], float | None]
    number: str
    after: tuple[str, ...]
    array: Callable[[int], tuple[str, ...]]
    array_max: int
    launch: tuple[str, ...]
    log_name: str
    queue: tuple[str, ...]
    unfinished: tuple[str, ...]
    ended: tuple[str, ...]
    end_pattern: str
    release: tuple[str, ...]
    states: str
    running: str
    pending: str
    find_held: Callable[[Sequence[str]], str]
    release_all: tuple[str, ...]
    first_index: int = 0
    number_variable: str = ""
    tables: TableClients | None = None
    nobody: User | None = None


# What a cluster adds to a run


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """A run of a job that ended without the job: the job was requeued. `state` is the RJMS's word for how the run ended."""

    run_s: float
    state: str
    cores: int
    nodes: int


def nodes_of(text: str) -> int:
    """Return how many nodes a node list of an RJMS has; 1 for a text that is no list of hosts."""
    try:
        return len(expand_hosts(text))
    except ValueError:
        return 1


@dataclass(frozen=True, slots=True)
class CompletedJob:
    """An RJMS's own record of a job: times in seconds since the Unix epoch; None if the job never started.

    `earlier` are the runs before the last one, None if the RJMS does not record these; `gpus` those that the job had, None if
    the RJMS does not count GPUs. A job that `waits_again` was requeued, and has not ended.
    """

    number: int
    name: str
    state: str
    submit_s: float
    start_s: float | None
    end_s: float
    nodes: str
    cores: int
    limit_s: float | None
    element: str = ""  # NUMBER_INDEX of an array's
    user: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    gpus: int | None = None
    earlier: tuple[EarlierRun, ...] | None = None
    waits_again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """What a cluster adds to a plan: daemons in the order in which they start, files, and paths that are private to a host.

    `private` has every host that belongs to the cluster. `records` are paths, on one of these hosts and inside one of
    its private paths, of the files in which the RJMS records jobs; there may be none. The first has `record_mark` once for
    each job.
    Where an RJMS writes no such file by itself, a process that `collects` asks the RJMS and writes the file, at the end of the
    run, also of one that fails or that its user ends. The file ends with `record_end`: without it the file is not whole, and
    what became of the jobs is unknown, as it is without `records`.
    `environment` is what programs of its users need besides the scenario's; `replaced` are variables of the scenario that have
    another value for all programs on hosts. `features` are those of the nodes that have any.
    `devices` are files to be made below /dev of a host; `warnings` are said before the start. `power_caps` are
    what the cluster is told to keep below. `wires` has, by host, the hosts whose power switch, meter and limit it has as files.
    `message` tells of bytes that a connection goes on with how long the message is, in bytes, that they begin, and its name; it
    returns None if it needs more of them, and raises ValueError if they are no message of this RJMS's. It is optional.
    """

    rjms: Rjms
    name: str
    controller: str
    login: str
    files: tuple[FileSpec, ...]
    processes: tuple[ProcessSpec, ...]
    private: dict[str, tuple[PrivateSpec, ...]]
    records: tuple[str, ...]
    nodes: tuple[str, ...]
    cores: int
    environment: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)
    features: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    record_mark: bytes = b"\n"
    record_end: str = ""
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    power_caps: tuple[PowerCap, ...] = ()
    wires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    message: Callable[[bytes], tuple[int, str] | None] | None = None

    def with_accounts(
        self, accounts: Sequence[str], associations: Mapping[str, Sequence[str]], qos: Collection[str]
    ) -> ClusterPlan:
        """Return the cluster with new `accounts`, and with the accounts of each user, the user's default first.

        `qos` are the qualities of service that jobs ask for. An RJMS without a database of accounts has nothing to be told.
        """
        return self


class Rjms(Protocol):
    """One RJMS. An implementation has no state of its own."""

    @property
    def name(self) -> str:
        """The key of its section in a scenario, and of its version in run.json."""

    @property
    def title(self) -> str:
        """Its name as its makers write it."""

    @property
    def section(self) -> type[ClusterSection]:
        """The section of a scenario that describes a cluster of it."""

    @property
    def clients(self) -> Clients:
        """The words of its users."""

    @property
    def programs(self) -> Collection[str]:
        """Full paths of the programs that every cluster needs, daemons and clients."""

    def version(self, root: RootTree) -> str | None:
        """Return the version that is installed in a root file system, e.g. `24.11.5`; None if there is none."""

    def plugins(self, root: RootTree) -> list[str]:
        """Return the names of the plugins that are installed in a root file system, sorted: daemons may look at all of
        them.
        """

    def plan(self, section: ClusterSection, key: str, site: Site) -> ClusterPlan:
        """Return what a section, found at `key` of the scenario, adds to the plan. SimunixError says what does not fit."""

    def completed(self, records: Sequence[str]) -> dict[str, CompletedJob]:
        """Return the jobs in the texts of `ClusterPlan.records` by number, elements of arrays by NUMBER_INDEX; "" for
        no file.
        """
