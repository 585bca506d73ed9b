"""Starts programs from outside of the emulation: for a scenario, for the user, or for the server itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from rsg_server.process.channel_pool import new_channel

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from rsg_server.event_log import EventLog
    from rsg_server.process.host_state import Command, HostState, Launcher
    from rsg_server.process.life.births import Births
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.process.life.threads import Threads
    from rsg_server.process.parking import Parking
    from rsg_server.process.process import Process


class RunningHosts:
    """The hosts on which programs may be started: all that are not `off`."""

    def __init__(self, hosts: Mapping[str, HostState], off: AbstractSet[str]) -> None:
        self._hosts, self._off = hosts, off

    def find(self, host_name: str) -> HostState:
        """Return the host with a name. Raises SimunixError if there is none, or if it is switched off."""
        host = self._hosts.get(host_name)
        if host is None:
            raise SimunixError(f"host {host_name!r}: no such host; known: {', '.join(sorted(self._hosts))}")
        if host_name in self._off:
            raise SimunixError(f"host {host_name}: switched off; switch it on before a program is started there")
        return host


class Programs:
    """Starts programs on `hosts`."""

    def __init__(
        self,
        hosts: RunningHosts,
        launcher: Launcher,
        births: Births,
        threads: Threads,
        deaths: Deaths,
        parking: Parking,
        log: EventLog,
    ) -> None:
        self.hosts = hosts
        self._launcher, self._births, self._threads, self._deaths = launcher, births, threads, deaths
        self._parking, self._log = parking, log

    def spawn(self, host_name: str, command: Command) -> Process:
        """Start a program on a host now, and return its process. Raises SimunixError if the program cannot be started."""
        host = self.hosts.find(host_name)
        ends = new_channel()
        process = self._births.new_process(host, None, command.argv[0])
        process.label, process.cpu_policy = command.label, command.cpu_policy
        process.started = True
        actor, channel = self._threads.new(process, ends)
        try:
            process.pid = self._launcher.spawn(host_name, command, channel)
        except SimunixError:
            self._deaths.reap(process)
            raise
        finally:
            os.close(channel)
        self._parking.make_ready(actor)
        self._log.event(process.born_ns, "process_start", host=host_name, number=process.number, argv=list(command.argv))
        return process
