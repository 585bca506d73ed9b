"""An emulated cluster that a test describes call by call. Each call of `run()` runs the description from the beginning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import methodcaller
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError
from rsg_server.faults.changes import Change, Heal, Loss, Partition
from rsg_server.faults.faults import check
from simunix.launch.failures import describe_exit
from simunix.launch.run_directory import RunDirectory
from simunix.ranges import expand_hosts
from simunix.rjms.scenario import cluster_sections
from simunix.scenario.model import HostSection, ProcessSection, Scenario
from simunix.scenario.nemesis_section import NemesisSection
from simunix.scenario.network_section import NetworkSection
from simunix.testing.attempt import Attempt
from simunix.testing.course import Course
from simunix.testing.description import WORK_FOLDER, Description, checked
from simunix.testing.function_source import Function
from simunix.testing.process import NS, EmulatedHost, EmulatedProcess, Runnable, Time
from simunix.testing.program import CCompiler, Program, Source, c_program, command, python_program
from simunix.testing.result import RunResult
from simunix.units import duration_ns

# pytest shows the line of the test, and not lines of this module
__tracebackhide__ = methodcaller("errisinstance", SimunixError)

WALL_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Described:
    """All that a test has described of a cluster at a moment, which `Cluster.begin_again` goes back to."""

    description: Description
    processes: list[EmulatedProcess]
    hosts: dict[str, EmulatedHost]
    actions: list[tuple[int, Callable[[], object]]]


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The options of a cluster that are set outside of the test's body.

    Relative paths of sources are below the folder of `source`, the file of the test.
    """

    directory: Path
    compiler: CCompiler
    source: Path
    scenario: Scenario | None = None
    scenario_path: Path | None = None
    seed: int | None = None
    until_ns: int | None = None
    wall_limit_s: float = WALL_LIMIT_S


@dataclass(eq=False, repr=False)
class Cluster:
    """Hosts, programs and failures of an emulated cluster. The fixture `emulation` is one."""

    options: ClusterOptions
    processes: list[EmulatedProcess] = field(default_factory=list, init=False)
    attempts: list[Attempt] = field(default_factory=list, init=False)
    course: Course | None = field(default=None, init=False)
    """The choices and faults of the runs of an explored test; None: the run of seed 0, without choices."""
    _description: Description = field(init=False)
    _hosts: dict[str, EmulatedHost] = field(default_factory=dict, init=False)
    _actions: list[tuple[int, Callable[[], object]]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        options = self.options
        folder = (options.scenario_path or options.source).parent
        self._description = Description(options.scenario, folder, options.seed, options.until_ns)
        self._learn_hosts(self._description.addresses())
        for section in options.scenario.processes if options.scenario is not None else ():
            for host in section.host:
                self.processes.append(EmulatedProcess(section.name, host, True, self))

    def __repr__(self) -> str:
        return f"<cluster of {', '.join(self._hosts) or 'no hosts yet'}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the short form of this object in Hypothesis' examples, rather than all fields."""
        printer.text(repr(self))

    # Hosts and links

    def network(
        self,
        *,
        latency: Time | None = None,
        bandwidth: str | None = None,
        loopback_latency: Time | None = None,
        loopback_bandwidth: str | None = None,
        model: str | None = None,
        fair_per: str | None = None,
    ) -> None:
        """Set the link of every host to the switch, for hosts that have none of their own: latency one way, bandwidth each way.

        `model` and `fair_per` say how flows share links, as in the `network` of a scenario.
        """
        self._description.network = checked(
            "network()",
            NetworkSection,
            latency=latency,
            bandwidth=bandwidth,
            loopback_latency=loopback_latency,
            loopback_bandwidth=loopback_bandwidth,
            model=model,
            fair_per=fair_per,
        )

    def hosts(
        self,
        names: str,
        *,
        address: str | None = None,
        cores: int | None = None,
        memory: str | int | None = None,
        latency: Time | None = None,
        bandwidth: str | None = None,
        private: Sequence[str] = (),
        privileged: bool | None = None,
    ) -> list[EmulatedHost]:
        """Add equal hosts, such as "node[1-4]", and return them. `latency` (one way) and `bandwidth` (each way) are
        those of each host's own link; `address` is that of the first host.
        """
        section = checked(
            f"host({names!r})",
            HostSection,
            name=names,
            address=address,
            cores=cores,
            memory=memory,
            latency=latency,
            bandwidth=bandwidth,
            private=list(private),
            privileged=privileged,
        )
        addresses = self._description.addresses(section)
        self._description.hosts.append(section)
        self._learn_hosts(addresses)
        return [self._hosts[name] for name in section.name]

    def host(
        self,
        name: str,
        *,
        address: str | None = None,
        cores: int | None = None,
        memory: str | int | None = None,
        latency: Time | None = None,
        bandwidth: str | None = None,
        private: Sequence[str] = (),
        privileged: bool | None = None,
    ) -> EmulatedHost:
        """Add a host. A host that exists already (in the scenario, for instance) is returned unchanged."""
        changes = (address, cores, memory, latency, bandwidth, privileged)
        if name in self._hosts and all(value is None for value in changes) and not private:
            return self._hosts[name]
        if "[" in name or "," in name:
            raise SimunixError(f"host({name!r}): expected the name of one host; for several there is hosts()")
        return self.hosts(
            name,
            address=address,
            cores=cores,
            memory=memory,
            latency=latency,
            bandwidth=bandwidth,
            private=private,
            privileged=privileged,
        )[0]

    def _learn_hosts(self, addresses: dict[str, str]) -> None:
        for name, address in addresses.items():
            self._hosts.setdefault(name, EmulatedHost(name, address, self))

    # Programs

    def c(self, source: str | Path, *flags: str, name: str = "") -> Program:
        """Compile a C program from its text or a .c file, and return it. A program is compiled once for given `flags`
        of the compiler (-lm …).
        """
        found = Source.read(source, ".c", self.options.source.parent)
        return c_program(self.options.compiler, found, name, flags)

    def python(self, source: str | Path | Function, *arguments: object, name: str = "") -> Program:
        """Make a program in Python: from the text of a script, a .py file, or a function, which is called with the
        arguments.
        """
        return python_program(source, self.options.source.parent, name, arguments)

    def add_process(
        self, host: str, program: Runnable, arguments: Sequence[object], is_daemon: bool, name: str, **keys: object
    ) -> EmulatedProcess:
        """Start a program on a host, for `EmulatedHost.start`; `keys` are keys of a process in the scenario format."""
        made = self._program(program)
        section = checked(
            f"start({name or made.name!r})",
            ProcessSection,
            name=self._free_name(host, name or made.name, bool(name)),
            host=host,
            command=made.argv(WORK_FOLDER),
            **keys,
        )
        self._description.want(host, section, made, tuple(map(str, arguments)), is_daemon)
        self.processes.append(EmulatedProcess(section.name, host, is_daemon, self))
        return self.processes[-1]

    def _program(self, program: Runnable) -> Program:
        if isinstance(program, Program):
            return program
        if callable(program):
            return self.python(program)
        by_suffix = {".c": self.c, ".py": self.python}
        if isinstance(program, Path) and program.suffix in by_suffix:
            return by_suffix[program.suffix](program)
        return command(program)

    def _free_name(self, host: str, name: str, is_chosen: bool) -> str:
        taken = {process.name for process in self.processes if process.host == host}
        if name not in taken:
            return name
        if is_chosen:
            raise SimunixError(f"start({name!r}): there is a process of this name on {host} already; choose another")
        return next(free for number in range(2, len(taken) + 3) if (free := f"{name}-{number}") not in taken)

    def process(self, name: str, host: str | None = None) -> EmulatedProcess:
        """Return the process with a name, which may be one of the scenario.

        `host` is needed if several hosts have processes with this name. Raises SimunixError for an unknown or ambiguous
        name.
        """
        found = [process for process in self.processes if process.name == name and host in (None, process.host)]
        if len(found) != 1:
            what = f"{len(found)} processes are" if found else "no process is"
            known = ", ".join(map(repr, self.processes)) or "none"
            raise SimunixError(f"process({name!r}): {what} called so; known: {known}")
        return found[0]

    def write(self, host: str, file: str, content: str | bytes) -> str:
        """Put a file into a host's work folder before the run; return its path on the host."""
        self._description.add_file(host, file, content.encode() if isinstance(content, str) else content)
        return file

    @property
    def seed(self) -> int:
        """The seed of all random numbers in the next run."""
        return self._description.seed_used

    @seed.setter
    def seed(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise SimunixError(f"seed: expected a whole number from 0 on, got {seed!r}")
        self._description.seed = seed

    # Events during the run

    def at(self, moment: Time, action: Callable[[], object]) -> None:
        """Let `action()` be called at a virtual moment of each run. The action may read `now` and outputs of processes,
        and send signals.
        """
        self._actions.append((_duration("at()", moment), action))

    def send_signal(self, process: EmulatedProcess, number: int, at: Time | None = None) -> None:
        """Send a signal to a process at a virtual moment of each run; without `at`, at once."""
        if at is not None:
            self.at(at, lambda: process.send_signal(number))
        elif not self.attempts or self.attempts[-1].is_over:
            raise SimunixError(f"{process!r}: nothing runs now; say when: kill(at='5s'), or call it from an action of at()")
        else:
            self.attempts[-1].emulation.supervisor.send_signal(process.entry, number)

    def change(self, change: Change, at: Time | None = None) -> None:
        """Change a host, a link or the network at a virtual moment of each run; without `at`, at once."""
        platform = self._description.platform()
        if platform is None:
            raise SimunixError(f"{change!r}: the cluster has no host yet; add one: emulation.host('a')")
        check(platform, change)
        if at is not None:
            self.at(at, lambda: self.change(change))
        elif not self.attempts or self.attempts[-1].is_over:
            raise SimunixError(f"{change!r}: nothing runs now; say when: crash(at='5s'), or call it from an action of at()")
        else:
            self.attempts[-1].emulation.kernel.faults.apply(change)

    def partition(self, one: str, other: str = "", at: Time | None = None) -> None:
        """Cut the hosts `one` ("a,b", "node[1-4]") off from the hosts `other`, by default from all other hosts, until
        `heal` is called.
        """
        self.change(Partition(_names("partition()", one), _names("partition()", other)), at)

    def heal(self, at: Time | None = None) -> None:
        """End all partitions of the network."""
        self.change(Heal(), at)

    def lose_datagrams(self, rate: float, one: str, other: str = "", at: Time | None = None) -> None:
        """Lose the share `rate` (0 to 1) of the datagrams between the hosts `one` and the hosts `other`, by default all
        other hosts.
        """
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
            raise SimunixError(f"lose_datagrams({rate!r}): expected a part of all, from 0 to 1")
        self.change(Loss(_names("lose_datagrams()", one), rate, _names("lose_datagrams()", other)), at)

    def nemesis(self, **keys: Any) -> None:
        """Let the seeds of an explored test add faults to its runs; other runs have no such faults.

        The arguments are the keys of `nemesis` in a scenario: faults, hosts, start, every, heal, at_most. Raises SimunixError.
        """
        self._description.nemesis = checked("nemesis()", NemesisSection, **keys)

    # Explored tests

    def described(self) -> Described:
        """The part of the cluster that the test has described so far."""
        return Described(self._description.copied(), list(self.processes), dict(self._hosts), list(self._actions))

    def begin_again(self, described: Described, directory: Path, course: Course) -> None:
        """Forget all runs, and everything that was described after `described`; the next runs have folders below
        `directory`.
        """
        self._description = described.description.copied()
        self.processes, self._hosts = list(described.processes), dict(described.hosts)
        self._actions, self.attempts = list(described.actions), []
        self.options, self.course = replace(self.options, directory=directory), course

    @property
    def now(self) -> float:
        """The virtual seconds since the start of the latest run; after the run, the moment at which it ended."""
        return self.attempts[-1].now_ns / NS if self.attempts else 0.0

    # Runs

    def run(self, until: Time | None = None, check: bool = False) -> RunResult:
        """Run the cluster from the beginning to the end, and return the result.

        `until` limits the virtual time. With `check`, a process that failed or did not end is an error. Raises the
        error that ended the run.
        """
        description = self._description
        scenario = description.scenario
        if not self.processes and not (scenario and (scenario.workload or any(cluster_sections(scenario)))):
            raise SimunixError("there is nothing to run; start a program first: emulation.host('a').start(…)")
        until_ns = None if until is None else _duration("run(until=)", until)
        directory = RunDirectory(self.options.directory / f"run{len(self.attempts) + 1}")
        attempt = Attempt.prepare(description, directory, until_ns, self.options, self.course)
        self.attempts.append(attempt)
        for process in self.processes:
            process.bind(attempt.entry(process.host, process.name))
        for moment_ns, action in self._actions:
            attempt.emulation.kernel.timeline.add(moment_ns, action)  # type: ignore[arg-type]
        result = attempt.run()
        if check:
            self._check()
        return result

    def _check(self) -> None:
        failed = [process for process in self.processes if not process.is_daemon and process.exit_code != 0]
        if failed:
            lines = [f"{process!r} ended with {describe_exit(process.exit_code)}" for process in failed if process.has_ended]
            lines += [f"{process!r} had not ended at {self.now:.6f} s" for process in failed if not process.has_ended]
            raise SimunixError("; ".join(lines))

    def output_folder(self, host: str) -> Path:
        """Return the folder in which the latest run keeps files and outputs of a host."""
        return self._latest.directory.host(host)

    def work_folder(self, host: str) -> Path:
        """Return the folder in which the latest run keeps the content of a host's work folder."""
        return self._latest.directory.private(host, WORK_FOLDER)

    @property
    def _latest(self) -> Attempt:
        if not self.attempts:
            raise SimunixError("nothing has been run yet; call run() first")
        return self.attempts[-1]


def _names(call: str, hosts: str) -> tuple[str, ...]:
    try:
        return tuple(expand_hosts(hosts)) if hosts else ()
    except ValueError as error:
        raise SimunixError(f"{call}: {error}") from error


def _duration(call: str, value: Time) -> int:
    try:
        return duration_ns(value)
    except ValueError as error:
        raise SimunixError(f"{call}: {error}") from error
