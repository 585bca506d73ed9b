"""`simunix run --strace`: which processes of a run are traced, and into which files."""

from __future__ import annotations

from dataclasses import dataclass

from rsg_server.diagnosis.traces import Selection, Traces
from simunix.launch.factory.container import Isolation
from simunix.launch.plan import Plan
from simunix.launch.run_directory import RunDirectory


@dataclass(frozen=True, slots=True)
class StraceOptions:
    """The patterns `HOST:COMMAND` of traced processes from the command line; "" matches all processes. Without a
    pattern no process is traced.
    """

    selections: tuple[str, ...] = ()
    # leave out what differs between two runs of one plan: addresses, and pids if hosts share the pids of this computer
    stable: bool = False

    def traces(self, directory: RunDirectory, plan: Plan, isolation: Isolation) -> Traces | None:
        """Return the object that writes the traces of a run; None if no process is traced. Raises SimunixError if a
        pattern names a host that the plan does not have.
        """
        if not self.selections:
            return None
        hosts = [host.name for host in plan.hosts]
        selected = [Selection.parse(text, hosts) for text in self.selections]
        return Traces(directory.host, selected, self.stable, isolation is not Isolation.NONE)


NO_STRACE = StraceOptions()
