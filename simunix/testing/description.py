"""The description of a test's cluster, and the plan of a run made from it.

The description consists of sections of the scenario format, which are expanded like those in a scenario file.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from operator import methodcaller
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rsg_server.errors import SimunixError, quoted
from rsg_server.platform.platform import Platform
from simunix.dates import moment
from simunix.launch.factory.container import Isolation
from simunix.launch.plan import FileSpec, Plan, PrivateSpec, ProcessSpec
from simunix.launch.programs import check_program
from simunix.launch.run_directory import RunDirectory
from simunix.planning.expand import PATH, Expansion, expand, process_spec
from simunix.rjms.registry import RJMSS
from simunix.scenario.loader import dotted
from simunix.scenario.model import HostSection, ProcessSection, Scenario
from simunix.scenario.nemesis_section import NemesisSection
from simunix.scenario.network_section import NetworkSection
from simunix.testing.course import Course
from simunix.testing.program import Program

# pytest shows the line of the test, and not lines of this module
__tracebackhide__ = methodcaller("errisinstance", SimunixError)

WORK_FOLDER = "/run/work"
"""The work folder of each host. Programs are put and started there, and files that programs write there stay in the run
directory.
"""
WORK = PrivateSpec(WORK_FOLDER, mode=0o1777)
Section = TypeVar("Section", bound=BaseModel)


def checked(call: str, section: type[Section], /, **values: Any) -> Section:
    """Return a section of the scenario format made from keyword arguments.

    Raises SimunixError, which names the call and the argument.
    """
    try:
        return section.model_validate({key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        text = str(first["msg"]).removeprefix("Value error, ")
        got = "" if first["type"] == "value_error" else f", got {quoted(first['input'])}"
        where = dotted([part for part in first["loc"] if part != "function-before"])
        raise SimunixError(f"{call}: {where}: {text}{got}" if where else f"{call}: {text}{got}") from None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A process that the test starts. The arguments of the process are completed when the paths on the host are known."""

    section: ProcessSection
    program: Program
    arguments: tuple[str, ...]
    is_daemon: bool


EPOCH = moment("2000-01-01")
"""The date at which the run of a test without a scenario begins, so that the test's result does not depend on the day.
"""


@dataclass(slots=True)
class Description:
    """The hosts, links, files and processes of a test, together with those of the scenario that the test uses, if any."""

    scenario: Scenario | None = None
    scenario_folder: Path = Path()
    seed: int | None = None
    until_ns: int | None = None
    network: NetworkSection = field(default_factory=NetworkSection)
    hosts: list[HostSection] = field(default_factory=list)
    wanted: list[Wanted] = field(default_factory=list)
    files: dict[tuple[str, str], bytes] = field(default_factory=dict)
    nemesis: NemesisSection | None = None

    def __post_init__(self) -> None:
        if self.scenario is not None:
            self.network = self.scenario.network

    def copied(self) -> Description:
        """Return an equal description to which further hosts and processes can be added."""
        other = copy(self)
        other.hosts, other.wanted, other.files = list(self.hosts), list(self.wanted), dict(self.files)
        return other

    @property
    def seed_used(self) -> int:
        """The seed of the run: the test's, or else the scenario's, or else 0."""
        if self.seed is not None:
            return self.seed
        return self.scenario.seed if self.scenario is not None else 0

    def addresses(self, more: HostSection | None = None) -> dict[str, str]:
        """Return the addresses of the hosts by name, in the order of their description.

        `more` is a host that will be added to the described ones. Raises SimunixError if two hosts have one name or one
        address.
        """
        platform = self.platform(more)
        return {} if platform is None else {host.name: str(host.addresses[0]) for host in platform.hosts}

    def platform(self, more: HostSection | None = None) -> Platform | None:
        """Return the platform of the hosts and links described so far; None if there is no host."""
        if more is None and not self.hosts and self.scenario is None:
            return None
        without: dict[str, object] = {**dict.fromkeys(RJMSS), "workload": None, "processes": [], "events": [], "profiles": []}
        return expand(self._scenario(more).model_copy(update=without), self.scenario_folder).plan.platform

    def _scenario(self, more: HostSection | None = None) -> Scenario:
        base = self.scenario
        hosts = [*(base.hosts if base else ()), *self.hosts, *((more,) if more else ())]
        values: dict[str, object] = {"hosts": hosts, "network": self.network, "seed": self.seed_used}
        if self.until_ns is not None:
            values["until"] = self.until_ns
        if self.nemesis is not None:
            values["nemesis"] = self.nemesis
        if base is not None:
            return base.model_copy(update=values)
        return Scenario.model_construct(name="test", epoch=EPOCH, **values)  # type: ignore[arg-type]

    def want(self, host: str, section: ProcessSection, program: Program, arguments: tuple[str, ...], daemon: bool) -> None:
        """Add a process and the file of its program. Raises SimunixError if the process cannot be run."""
        if program.file:
            self.add_file(host, program.file, program.content)
        else:
            problem = check_program(program.before[0], section.environment.get("PATH", PATH), "/")
            if problem is not None:
                raise SimunixError(f"{host}: {problem}")
        self.wanted.append(Wanted(section, program, arguments, daemon))

    def add_file(self, host: str, file: str, content: bytes) -> None:
        """Add a file to a host's work folder. Raises SimunixError for a path outside it, and for different content."""
        if not file or file.startswith("/") or ".." in Path(file).parts:
            raise SimunixError(f"{host}: file {file!r}: expected a path inside the host's work folder")
        if self.files.setdefault((host, file), content) != content:
            raise SimunixError(f"{host}: there are two different files {file}; give one of the programs another name")

    def finished_scenario(self, course: Course | None = None) -> tuple[Scenario, Expansion]:
        """Return the scenario of the run, with the faults of a course, and its expansion, without the test's own processes."""
        scenario = self._scenario()
        if not scenario.hosts:
            raise SimunixError("the cluster has no host; add one: emulation.host('a')")
        if course is not None:
            scenario = course.applied(scenario)
        return scenario, expand(scenario, self.scenario_folder)

    def plan(self, expansion: Expansion, isolation: Isolation, directory: RunDirectory, course: Course | None = None) -> Plan:
        """Return the plan of the scenario with the processes and files of the test, and the choices of a course, added."""
        plan = expansion.plan if course is None else course.chosen(expansion.plan)

        def seen(host: str) -> str:
            """Return the path at which programs of a host see its work folder. If hosts have no namespaces, it is the
            folder's real path.
            """
            return str(directory.private(host, WORK_FOLDER)) if isolation is Isolation.NONE else WORK_FOLDER

        own = tuple(self._process(entry, seen(entry.section.host[0])) for entry in self.wanted)
        files = tuple(
            FileSpec(host, f"{WORK_FOLDER}/{file}", content, mode=0o755) for (host, file), content in self.files.items()
        )
        explicit = plan.stop if self.scenario is not None and self.scenario.stop else None
        has_background = self.scenario is not None or any(entry.is_daemon for entry in self.wanted)
        stop = "workload" if own and has_background else plan.stop
        return replace(
            plan,
            hosts=tuple(replace(host, private=(*host.private, WORK)) for host in plan.hosts),
            processes=(*plan.processes, *own),
            files=(*plan.files, *files),
            stop=explicit or stop,
        )

    @staticmethod
    def _process(entry: Wanted, folder: str) -> ProcessSpec:
        spec = process_spec(entry.section, entry.section.host[0])
        return replace(
            spec,
            argv=(*entry.program.argv(folder), *entry.arguments),
            directory=folder if spec.directory == WORK_FOLDER else spec.directory,
            is_workload=not entry.is_daemon,
        )
