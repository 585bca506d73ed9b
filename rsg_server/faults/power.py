"""Switches hosts off and on: by a power cut, of which no process gets a signal; by a shutdown, which sends SIGTERM
first; by a boot.

A host is on, shutting down, off, or booting. A booting host counts as off, except that it draws power. A host that is
off has no process, and none of its sockets sends anything. A boot may hang, by chance or because a fault of the
scenario says so. Then the host boots until its power is cut.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rsg_server.observers import Observers
from rsg_server.protocol import FLAG_REBOOTED

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event, Timeline
    from rsg_server.event_log import EventLog
    from rsg_server.faults.boots import Boots
    from rsg_server.faults.residents import Residents
    from rsg_server.process.host_state import HostState
    from rsg_server.shared.clock import Clock

SECOND_NS = 10**9
LOOK_NS = SECOND_NS // 10
"""How often a shutdown looks whether all processes of its host have ended, virtual time."""
LAST_WORDS_NS = SECOND_NS
"""How long (virtual time) a host stays on the network after its last process has ended, so that bytes that are under
way still leave the host.
"""


class Power:
    """Switches hosts off and on.

    The supervisor, which starts the programs of a host, observes `on_boot` and `on_loss`; the meters of energy
    (rsg_server.energy) observe `on_switch`, the programs of Remote SimGrid `on_power`.
    """

    def __init__(
        self,
        clock: Clock,
        timeline: Timeline,
        log: EventLog,
        hosts: Mapping[str, HostState],
        off: set[str],
        residents: Residents,
        boots: Boots,
    ) -> None:
        self._clock, self._timeline, self._log = clock, timeline, log
        self._hosts, self._off, self._residents, self.boots = hosts, off, residents, boots
        # by host that is shutting down: the delay of its next boot (ns); None: no boot
        self._stopping: dict[str, int | None] = {}
        self._boots_due: Counter[str] = Counter()
        self._booting: dict[str, Event | None] = {}  # the event at the end of each boot that takes time; None: the boot hangs
        self.on_reach: Observers[HostState, bool] = Observers()
        """Observers get a host's name, and whether the host is on the network from now on.

        They are called first, when the processes of a host that is cut off still exist.
        """
        # observers are called after a power cut, when no process of the host is left
        self.on_silence: Observers[[]] = Observers()
        self.on_power: Observers[str, bool] = Observers()  # observers get a host's name, and whether the host is on
        self.on_switch: Observers[str, str] = Observers()  # observers get a host's name, and one of: on, stopping, off, booting
        self.on_boot: Observers[str] = Observers()
        self.on_loss: Observers[str] = Observers()
        self.on_unmount: Observers[str] = Observers()  # observers are called when a shutdown has written all data to the disks

    def is_off(self, host: str) -> bool:
        """Return whether a host is off."""
        return host in self._off

    def what(self, host: str) -> str:
        """Return the condition of a host: on, stopping, off or booting."""
        if self.is_off(host):
            return "booting" if host in self._booting else "off"
        return "stopping" if host in self._stopping else "on"

    def starts_programs(self, host: str) -> bool:
        """Return whether programs may be started on a host, which must be neither off nor shutting down."""
        return not self.is_off(host) and host not in self._stopping

    def boots_later(self, host: str) -> bool:
        """Return whether a boot of a host is planned, after which the programs of the host start again."""
        return self._boots_due[host] > 0

    def cut(self, host: str) -> None:
        """Cut the power of a host now: its processes and sockets end at once, and their peers receive nothing."""
        if not self.is_off(host):
            self._log.event(self._clock.now_ns, "host_off", host=host)
            if self._stopping.pop(host, None) is not None:
                self._boots_due[host] -= 1
            self._lose(host)
            self.on_switch.tell(host, "off")
        elif host in self._booting:
            end = self._booting.pop(host)
            if end is not None:
                end.cancel()
                self._boots_due[host] -= 1
            self._log.event(self._clock.now_ns, "host_off", host=host)
            self.on_switch.tell(host, "off")

    def start(self, host: str) -> None:
        """Boot a host that is off. Until the boot has ended, the host receives no packets and runs no programs."""
        if not self.is_off(host) or host in self._booting:
            return
        boot_ns, hangs = self.boots.of(host).time_ns, self.boots.hangs(host)
        if not boot_ns and not hangs:
            self._start(host)
            return
        self._log.event(self._clock.now_ns, "host_boot", host=host)
        self._boots_due[host] += 1
        self._booting[host] = self._timeline.add(self._clock.now_ns + boot_ns, lambda: self._booted(host, hangs))
        self.on_switch.tell(host, "booting")

    def _booted(self, host: str, hangs: bool) -> None:
        self._boots_due[host] -= 1
        if hangs:
            self._booting[host] = None
            self._log.event(self._clock.now_ns, "boot_hangs", host=host)
            return
        del self._booting[host]
        self._start(host)

    def _start(self, host: str) -> None:
        state = self._hosts[host]
        state.booted_ns, state.flags = self._clock.now_ns, state.flags | FLAG_REBOOTED
        self._off.discard(host)
        self.on_reach.tell(state, True)
        self._log.event(self._clock.now_ns, "host_on", host=host)
        self.on_power.tell(host, True)
        self.on_switch.tell(host, "on")
        self.on_boot.tell(host)

    def start_later(self, host: str, delay_ns: int) -> None:
        """Boot a host after a delay; the run does not end before this boot."""
        self._boots_due[host] += 1
        self._timeline.add(self._clock.now_ns + delay_ns, lambda: self._due(host))

    def _due(self, host: str) -> None:
        self._boots_due[host] -= 1
        self.start(host)

    def shut_down(self, host: str, grace_ns: int, boot_after_ns: int | None = None) -> None:
        """Send SIGTERM to every process of a host, SIGKILL after `grace_ns` to those that still live, then cut the power.

        With `boot_after_ns`, the host boots `boot_after_ns` nanoseconds after its power is cut.
        """
        if not self.starts_programs(host):
            return
        self._stopping[host] = boot_after_ns
        if boot_after_ns is not None:
            self._boots_due[host] += 1
        self._log.event(self._clock.now_ns, "host_shutdown", host=host)
        self.on_switch.tell(host, "stopping")
        self._residents.signal(host, signal.SIGTERM)
        self._await_end(host, self._clock.now_ns + grace_ns)

    def _await_end(self, host: str, deadline_ns: int) -> None:
        if host not in self._stopping:
            return  # the power was cut meanwhile
        if self._residents.of(host) and self._clock.now_ns < deadline_ns:
            due_ns = min(self._clock.now_ns + LOOK_NS, deadline_ns)
            self._timeline.add(due_ns, lambda: self._await_end(host, deadline_ns))
            return
        self._residents.signal(host, signal.SIGKILL)
        self._timeline.add(
            self._clock.now_ns + max(LAST_WORDS_NS, self.boots.of(host).shutdown_ns), lambda: self._switch_off(host)
        )

    def _switch_off(self, host: str) -> None:
        if host in self._stopping:
            boot_after_ns, self._stopping[host] = self._stopping[host], None
            if boot_after_ns is not None:
                self._timeline.add(self._clock.now_ns + boot_after_ns, lambda: self._due(host))
            self.on_unmount.tell(host)
            self.cut(host)

    def _lose(self, name: str) -> None:
        host = self._hosts[name]
        self._off.add(name)
        self.on_reach.tell(host, False)
        self._residents.cut(host)
        self.on_silence.tell()
        self.on_power.tell(name, False)
        self.on_loss.tell(name)
