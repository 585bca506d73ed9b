"""The interface that simunix needs of an RJMS (resource and job management system). Each RJMS is a folder whose class
implements `Rjms`.

Outside of that folder no part of simunix names an RJMS, its daemons or its commands (tests/contract/test_rjms_seam.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

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
    """The keys that every RJMS's section of a scenario has: the name of the cluster, and the CPU policy of its daemons."""

    cluster: str = "simunix"
    cpu_policy: CpuPolicy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The environment in which a cluster is planned. `hardware` and `roots` are by host name; relative paths of the
    scenario are relative to `folder`.

    The clock of the hosts begins at the Unix time `epoch_s`. `environment` has the scenario's variables for all
    programs.
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
    """The most watts that the nodes of a cluster and all enclosures may draw together between two moments of the run."""

    start_ns: int
    end_ns: int
    watts: float


# The commands of an RJMS's users


@dataclass(frozen=True, slots=True)
class Choice:
    """How one job is submitted, besides its size and time limit; None and () leave the choice to the RJMS.

    `client` is one of `Clients.names`. If `is_held`, the job waits until it is released.
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
    """The part of a job table that one command submits: a job, the components of a heterogeneous job or, by index, the
    elements of a job array.

    A job array is represented by its first element. `factors` is the path of a file with the factor of run times on
    each node, in thousandths; "" without such factors.
    """

    parts: tuple[tuple[Job, Choice], ...]
    elements: Mapping[int, Job] = field(default_factory=dict)
    factors: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableClients:
    """How jobs of a job table are given to an RJMS (`simunix.workload.request`).

    * `command`: returns the words that submit a job with all its wishes except for its dependency.
    * `dependency`: returns a job's dependency as the submitting program needs it
      (simunix.workload.guest.table_submitter: "clauses").
    * `cancel`: the words that cancel the job whose number replaces `{}`, if the job still waits.
    * `limit_s`: returns the time limit in seconds that the RJMS uses; None if the job asks for none, or for infinity.
    """

    command: Callable[[TableSubmission], tuple[str, ...]]
    dependency: Callable[[Request], dict[str, Any]]
    cancel: tuple[str, ...]
    limit_s: Callable[[Request], float | None]


@dataclass(frozen=True, slots=True)
class ByHand:
    """Shell commands that a user runs on the login host from the live page, by the words on their buttons.

    `{}` stands for the number of a job in `job`, and for the name of a node in `node`. `cluster` are about the whole. `hint` is
    a line with commands to begin with.
    """

    hint: str = ""
    job: Mapping[str, str] = field(default_factory=dict)
    node: Mapping[str, str] = field(default_factory=dict)
    cluster: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """The commands that users of an RJMS run on a host of the cluster. All words of a tuple are literal.

    * `names`: the client programs with which jobs may be submitted, the usual one first. A client in `staying` runs
      until its job has ended, and prints no job number.
    * `command`: returns the words that submit a job. `number` is a regular expression whose group 1 is the job's number
      in the output.
    * `job_name`: returns the name that a trace's job has in the RJMS. `named`: returns the option that gives a job this
      name.
    * `limit_s`: returns the time limit in seconds that the RJMS is told for a job; None for no limit.
    * `after`: the words that make a job wait for the end of another job, whose number replaces `{}`; () if the RJMS has
      none.
    * `array`: returns the words that submit a job as an array. Elements are called NUMBER_INDEX, from `first_index` on;
      an array has at most `array_max` elements.
    * `launch`: the words that start the ranks of a job in its script. `log_name`: the name of a job's log, in the
      RJMS's own patterns.
    * `queue`: a command that prints nothing if the queue is empty. `unfinished`: a command that prints, one per line,
      the number of each job and array element that has not ended.
    * `ended`: a command that prints facts about the job whose number replaces `{}`; `end_pattern` finds in them when
      the job ended, in local time.
    * `release`: a command that releases the held job whose number replaces `{}`.
    * `states`: a shell command that prints NAME|STATE|CORES of each job. `running` and `pending` are the words for two
      states.
    * `find_held`: returns a shell command that prints the numbers of the waiting jobs with these names, oldest first.
    * `release_all`: a command that releases the jobs whose numbers follow it.
    * `number_variable`: the environment variable with the job's number in a job's processes; "" if the RJMS sets none.
    * `tables`: how jobs of a job table are submitted; None for an RJMS that cannot be given a job table.
    * `policy`: the module of simunix that runs a policy (simunix.policy) on this RJMS, as `python3 -m MODULE LOG POLICY`;
      "" for an RJMS without one. LOG is `ClusterPlan.diary`.
    * `nobody`: the user who submits jobs without a known user; None is root, which some RJMSs refuse.
    * `by_hand`: what the live page offers.
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
    policy: str = ""
    nobody: User | None = None
    by_hand: ByHand = field(default_factory=ByHand)


# The part of a run's plan that describes a cluster


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """An earlier run of a job that was requeued afterwards. `state` is the RJMS's word for how that run ended."""

    run_s: float
    state: str
    cores: int
    nodes: int


def nodes_of(text: str) -> int:
    """Return how many nodes are in an RJMS's node list; 1 for a text that is no host list."""
    try:
        return len(expand_hosts(text))
    except ValueError:
        return 1


@dataclass(frozen=True, slots=True)
class CompletedJob:
    """An RJMS's own record of a job. Times are seconds since the Unix epoch; None if the job never started.

    `earlier` has the runs before the last one, or None if the RJMS does not record them. `gpus` is the number of GPUs
    that the job had, or None if the RJMS does not count them. A job that `waits_again` was requeued and has not ended.
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
    element: str = ""  # NUMBER_INDEX of an element of a job array
    user: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    gpus: int | None = None
    earlier: tuple[EarlierRun, ...] | None = None
    waits_again: bool = False


@dataclass(frozen=True, slots=True)
class JobNews:
    """News about a job in a line of an RJMS's own log, while the run goes on: the job was submitted, has started, or
    waits again.

    `number` is the RJMS's number of the job, NUMBER_INDEX for an array's element; `at_s` is in seconds since the Unix epoch.
    `nodes` are the nodes of a job that has started, as the RJMS writes them, and `cores` is the number of its cores; None if
    the line does not contain it.
    """

    number: str
    what: Literal["submitted", "started", "waits"]
    at_s: float
    nodes: str = ""
    cores: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """The part of a plan that describes a cluster: its daemons in the order of their starts, files, and paths that are
    private to a host.

    `private` has an entry for every host of the cluster. `records` are the paths of the files in which the RJMS records
    jobs; each is on one of these hosts, in a private path. The first file contains `record_mark` once for each job.
    Some RJMSs write no such file by themselves. Then a process that `collects` asks the RJMS at the end of the run and
    writes the file, also if the run fails or its user ends it. Such a file ends with `record_end`. If that end is
    missing, or there are no `records`, the fate of the jobs is unknown.

    `environment` has the variables that users' programs need besides the scenario's. `replaced` has variables of the
    scenario that have another value for all programs on hosts. `features` lists the features of nodes that have any.
    `devices` are the files below /dev of each host. `warnings` are printed before the start. `power_caps` are the caps
    that the cluster is told to keep. `wires` has, by host, the hosts whose power switch, meter and limit are files on
    it.

    `diary` is the path, in a private path, of a log of the RJMS's own whose lines `Rjms.news` reads while the run goes on;
    "" if no such log tells of jobs.

    `message` is a function of the bytes of a connection. The function returns the size in bytes and the name of the
    first message, or None if it needs more bytes; it raises ValueError if the bytes are no message of this RJMS. An
    RJMS need not have such a function.
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
    diary: str = ""

    def with_accounts(
        self, accounts: Sequence[str], associations: Mapping[str, Sequence[str]], qos: Collection[str]
    ) -> ClusterPlan:
        """Return the cluster with new `accounts`, and with the accounts of each user, the user's default account first.

        `qos` are the qualities of service that jobs ask for. An RJMS without a database of accounts returns itself
        unchanged.
        """
        return self


class Rjms(Protocol):
    """An RJMS. The object has no state."""

    @property
    def name(self) -> str:
        """The key of the RJMS's section in a scenario, and of its version in run.json."""

    @property
    def title(self) -> str:
        """The name of the RJMS, as its makers spell it."""

    @property
    def section(self) -> type[ClusterSection]:
        """The class of the section of a scenario that describes a cluster of this RJMS."""

    @property
    def clients(self) -> Clients:
        """The commands of the RJMS's users."""

    @property
    def programs(self) -> Collection[str]:
        """The full paths of the programs that every cluster of this RJMS needs, daemons and clients."""

    def version(self, root: RootTree) -> str | None:
        """Return the RJMS's version in a root file system, such as `24.11.5`; None if the root has none."""

    def plugins(self, root: RootTree) -> list[str]:
        """Return the sorted names of the RJMS's plugins in a root file system; the names matter because daemons may
        read the whole folder.
        """

    def plan(self, section: ClusterSection, key: str, site: Site) -> ClusterPlan:
        """Return the plan of the cluster that a section describes; `key` is the section's place in the scenario. Raises
        SimunixError, beginning with the wrong key.
        """

    def completed(self, records: Sequence[str]) -> dict[str, CompletedJob]:
        """Return the jobs that the texts of `ClusterPlan.records` list, by number, elements of job arrays by
        NUMBER_INDEX. The text is "" for a missing file.
        """

    def news(self, line: str) -> JobNews | None:
        """Return the news about a job in a line of `ClusterPlan.diary`; None if the line contains none.

        The method is never called for a cluster without a diary.
        """
