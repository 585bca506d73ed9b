"""The class Engine for a program that creates the actors and waits for their end, as programs of SimGrid do: its main
thread is no actor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rsg_server.platform.errors import PlatformError
from rsg_server.platform.simgrid_xml.deployment import DeployedActor, load_deployment
from simunix.rsg import this_actor
from simunix.rsg._librsg import lib
from simunix.rsg.actor import Actor
from simunix.rsg.connection import Program, call, real
from simunix.rsg.errors import AssertionError
from simunix.rsg.mailbox import Mailbox
from simunix.rsg.places import Host, Link


class _Clock:
    """A descriptor that makes the virtual date readable from the class: `Engine.clock`."""

    def __get__(self, _: object, __: object = None) -> float:
        return real(lib.rsg_clock)


class _Instance:
    """A descriptor that makes the program's engine readable from the class, as `Engine.instance`; the engine is created
    at the first use.
    """

    made: Engine | None = None

    def __get__(self, _: object, owner: type[Engine]) -> Engine:
        return self.made or owner()


class Engine:
    """The engine of a program (SimGrid's term for the simulation); each program has one engine. The platform of the
    engine is that of the emulation.
    """

    clock = _Clock()
    instance = _Instance()

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        Program.is_maestro = True
        _Instance.made = self
        self._functions: dict[str, Callable[..., object]] = {}

    @staticmethod
    def get_clock() -> float:
        """Return the virtual date in seconds."""
        return real(lib.rsg_clock)

    def load_platform(self, path: str) -> None:
        """Do nothing: the platform is the one with which the emulation was started."""

    @staticmethod
    def set_config(text: str) -> None:
        """Do nothing: the emulation's options are used."""

    @property
    def all_hosts(self) -> list[Host]:
        """All hosts of the platform, sorted by name."""
        return sorted(Host.all(), key=lambda host: host.name)

    def get_all_hosts(self) -> list[Host]:
        """Return all hosts of the platform, sorted by name."""
        return self.all_hosts

    @property
    def all_links(self) -> list[Link]:
        """All links, in the platform's order."""
        return Link.all()

    def get_all_links(self) -> list[Link]:
        """Return all links, in the platform's order."""
        return self.all_links

    def host_by_name(self, name: str) -> Host:
        """Return the host with a name."""
        return Host.by_name(name)

    @staticmethod
    def mailbox_by_name_or_create(name: str) -> Mailbox:
        """Return the mailbox with a name; it is created if it does not exist."""
        return Mailbox.by_name(name)

    def register_actor(self, name: str, function: Callable[..., object]) -> None:
        """Register a function under the name that a deployment file uses for it."""
        self._functions[name] = function

    def load_deployment(self, path: str) -> None:
        """Create the actors that a SimGrid deployment file lists."""
        try:
            deployed = load_deployment(path)
        except PlatformError as error:
            raise AssertionError(lib.RSG_BAD_VALUE, str(error)) from None
        for actor in deployed:
            self._deploy(actor)

    def _deploy(self, actor: DeployedActor) -> None:
        name = actor.function
        if name not in self._functions:
            known = ", ".join(self._functions)
            raise AssertionError(lib.RSG_BAD_VALUE, f"{actor.place}: function {name!r} is not registered (known: {known})")
        function = self._functions[name] if actor.start_s <= 0 else _later(actor.start_s, self._functions[name])
        created = Actor.create(name, Host.by_name(actor.host), function, *actor.arguments)
        if actor.kill_s is not None:
            created.set_kill_time(actor.kill_s)
        created.set_auto_restart(actor.restarts)

    def run(self) -> None:
        """Let the actors begin, and wait until all that are no daemons have ended."""
        call(lib.rsg_run, -1.0)

    def run_until(self, date: float) -> None:
        """Let the actors begin or continue, and wait until they have ended or the date, in virtual seconds, is reached."""
        call(lib.rsg_run, max(0.0, date - self.get_clock()))


def _later(start: float, function: Callable[..., object]) -> Callable[..., object]:
    def begin(*arguments: Any) -> object:
        this_actor.sleep_until(start)
        return function(*arguments)

    return begin
