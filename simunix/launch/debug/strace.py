"""`--strace`: which processes of a plan are traced, and where the traces go."""

from __future__ import annotations

from dataclasses import dataclass

from rsg_server.diagnosis.traces import Selection, Traces
from simunix.launch.factory.container import Isolation
from simunix.launch.plan import Plan
from simunix.launch.run_directory import RunDirectory


@dataclass(frozen=True, slots=True)
class StraceOptions:
    """What the command line says: `HOST:COMMAND` patterns, "" for everything; no pattern, no trace."""

    selections: tuple[str, ...] = ()
    stable: bool = False  # without what differs between two runs of one plan: addresses, and pids where hosts share them

    def traces(self, directory: RunDirectory, plan: Plan, isolation: Isolation) -> Traces | None:
        """The writer of a run's traces; None if none is traced. Raises SimunixError for a host that is not there."""
        if not self.selections:
            return None
        hosts = [host.name for host in plan.hosts]
        selected = [Selection.parse(text, hosts) for text in self.selections]
        return Traces(directory.host, selected, self.stable, isolation is not Isolation.NONE)


NO_STRACE = StraceOptions()
