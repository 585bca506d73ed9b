"""Actors that are added to a run by hand before it starts, as Remote SimGrid's commands do: `simunix rsg add-actor`, `start`.

Invariant: before the start no thread has a turn, and virtual time stands still. So the run depends on the order in which
actors were added, and not on the moments at which they were added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from rsg_server.process.host_state import Command
from rsg_server.rsg.errors import OperationError

if TYPE_CHECKING:
    from rsg_server.edge.service import Service
    from rsg_server.process.process import Process
    from rsg_server.rsg.actor import Participant

HOSTS_NAMED = 10
ACCEPTING, WAITING, RUNNING = "ACCEPTING_NEW_ACTORS", "WAITING_FOR_ALL_ACTORS_CONNECTION", "SIMULATION_RUNNING"
"""The states of a server, with Remote SimGrid's names (src/rsg/serve.cpp: ServerState)."""


@dataclass(eq=False, slots=True)
class Added:
    """An actor that was added, and the program that becomes the actor."""

    who: Participant
    process: Process
    argv: tuple[str, ...]

    @property
    def state(self) -> str:
        """The state of the actor in one word: "added", "connected" or "ended"."""
        if self.who.is_over or self.process.dead:
            return "ended"
        return "added" if self.who.thread is None else "connected"


class Deployment:
    """The actors that were added to a run, and the start of the run.

    `killed` is the reason why the run was ended by hand; empty if it was not.
    """

    def __init__(self, service: Service) -> None:
        self.has_started = False
        self.killed = ""
        self.added: dict[str, Added] = {}
        self._service = service

    def add(self, name: str, host: str, command: Command, then: Callable[[], None]) -> Added:
        """Announce an actor, and start the program that becomes the actor; its first turn comes at the start of the run.

        `then` is called when the program has ended. Raises SimunixError for an impossible actor.
        """
        if self.has_started:
            raise SimunixError(f"actor {name}: the simulation has started; actors are added before simunix rsg start")
        if name in self.added:
            raise SimunixError(f"actor {name}: the name is taken by {self.added[name].who}; choose another one")
        lives, programs = self._service.kernel.rsg.lives, self._service.kernel.programs
        who = self._announce(name, host)
        environment = {**command.environment, "RSG_INITIAL_ACTOR_ID": str(who.pid)}
        try:
            process = programs.spawn(host, replace(command, environment=environment, label=name))
        except SimunixError:
            lives.withdraw(who)
            raise
        added = self.added[name] = Added(who, process, command.argv)

        def ended(_: Process) -> None:
            self._ended(added)
            then()

        process.on_exit.connect(ended)
        return added

    def _announce(self, name: str, host: str) -> Participant:
        kernel = self._service.kernel
        state = kernel.hosts.get(host)
        if state is None:
            names = list(kernel.hosts)
            more = f" and {len(names) - HOSTS_NAMED} more" if len(names) > HOSTS_NAMED else ""
            raise SimunixError(f"host {host!r}: the platform has no such host; known: {', '.join(names[:HOSTS_NAMED])}{more}")
        try:
            return kernel.rsg.lives.announce(name, state.host, None)
        except OperationError as error:
            raise SimunixError(f"actor {name}: host {host} is off, or there are too many actors ({error.code.name})") from error

    def _ended(self, added: Added) -> None:
        """Handle the end of an actor's program.

        If neither the program nor a child of it has become or can become the actor, the other actors go on without this actor.
        """
        kernel = self._service.kernel
        heirs = (process.label == added.who.name for process in added.process.host.processes.values())
        if added.who.thread is None and not any(heirs):
            kernel.rsg.lives.withdraw(added.who)
        if self.is_finished():
            self._service.end("done")  # at this very turn: at a later one the event log would depend on the computer's speed

    def is_finished(self) -> bool:
        """Whether the run has started and all processes have ended."""
        return self.has_started and not self._service.kernel.processes

    def start(self) -> None:
        """Let the programs run; the actors begin once all have connected. Raises SimunixError if the start is impossible."""
        if self.has_started:
            raise SimunixError("the simulation has started already")
        if not any(not added.process.dead for added in self.added.values()):
            raise SimunixError("no actor has been added; add one with simunix rsg add-actor NAME HOST -- COMMAND")
        self.has_started = True
        self._service.kernel.rsg.lives.begin_when_connected()
        self._service.pause(self._service.paused)

    def kill_actor(self, added: Added) -> None:
        """Kill the program of an actor, whose caller is gone, between two turns."""
        kernel = self._service.kernel

        def kill() -> None:
            if not added.process.dead:
                kernel.deaths.kill(added.process)

        if self.has_started:
            kernel.disturbances.note(f"actor {added.who.name} was ended by hand")
            kernel.timeline.add(kernel.now_ns, kill)
            self._service.attend()
        else:
            kill()

    def kill(self, reason: str) -> None:
        """End the run at once, whether it has started or not."""
        self.killed = reason
        self._service.kernel.disturbances.note("the run was ended by hand")
        self._service.end("stopped by request")

    def status(self) -> dict[str, Any]:
        """Return the state of the server, the date, and the actors that were added."""
        kernel = self._service.kernel
        begun = RUNNING if kernel.rsg.lives.has_begun else WAITING
        return {
            "state": begun if self.has_started else ACCEPTING,
            "virtual_s": kernel.now_ns / 1e9,
            "actors": [
                {
                    "pid": added.who.pid,
                    "name": name,
                    "host": added.who.host.name,
                    "state": added.state,
                    "command": list(added.argv),
                }
                for name, added in self.added.items()
            ],
        }
