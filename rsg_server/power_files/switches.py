"""Power switch, meter and power limit of a host as files on another host: of a BMC, or of a host that controls others.

    /run/simunix/power/HOST/state on, stopping, off or booting; a program may write on, off, shutdown, reboot or cycle
    /run/simunix/power/HOST/watts what the host draws, in whole watts; 0 if nothing is known of that
    /run/simunix/power/HOST/joules … and has drawn since the start of the run /run/simunix/power/HOST/limit whole watts
    that the host may draw: the host goes to a slower power state whenever it would draw more; 0 for no limit. A boot
    does not end the limit.

A change happens at once, but not within the turn of the program that asks for it. `cycle` cuts the power, and boots the
host two seconds later, as IPMI recommends (chassis control, IPMI 2.0, 28.3).
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.faults.changes import HostChange
from rsg_server.power_files.governor import OUTSIDE

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.energy.hosts import HostMeters
    from rsg_server.energy.meter import Meter
    from rsg_server.faults.faults import Faults
    from rsg_server.power_files.governors import Governors
    from rsg_server.shared.clock import Clock

STATES = ("on", "off", "shutdown", "reboot")
CYCLE, CYCLE_NS = "cycle", 2 * 10**9
PATH = r"/run/simunix/power/([^/]+)/(\w+)"


class Switches:
    """The files of hosts whose power switch is connected to another host; `of` lists these files by the name of the
    host that sees them.
    """

    def __init__(self, clock: Clock, timeline: Timeline, faults: Faults, meters: HostMeters, governors: Governors) -> None:
        self._clock, self._timeline, self._faults = clock, timeline, faults
        self._meters, self._governors = meters, governors
        self.of: dict[str, tuple[str, ...]] = {}

    def text(self, host: str, path: str) -> str | None:
        """Return the text that a host reads in a file; None if the path is no such file."""
        found = self._find(host, path)
        return None if found is None else FILES[found[1]](self, found[0]) + "\n"

    def _find(self, host: str, path: str) -> tuple[str, str] | None:
        match = re.fullmatch(PATH, path) if host in self.of else None
        return (match[1], match[2]) if match and match[1] in self.of[host] and match[2] in FILES else None

    def meter(self, name: str) -> Meter | None:
        """Return the meter of a host; None if the host has no watts."""
        metered = self._meters.hosts.get(name)
        return None if metered is None else metered.meter

    def state(self, name: str) -> str:
        """Return the condition of a host: on, stopping, off or booting."""
        return self._faults.power.what(name)

    def joules(self, name: str) -> float:
        """Return the energy (J) that a host has drawn since the start of the run."""
        meter = self.meter(name)
        return 0.0 if meter is None else meter.joules(self._clock.now_ns)

    def limit_w(self, name: str) -> float:
        """Return how many watts a host may draw; 0 if there is no limit."""
        governor = self._governors.of.get(name)
        return 0.0 if governor is None else governor.limits_w.get(OUTSIDE, 0.0)

    def _limit(self, name: str, text: str) -> int:
        """Set a power limit, or remove it.

        Return 0; EINVAL for a text that is no number, or for a host without power states.
        """
        if name not in self._governors.of or not re.fullmatch(r"[0-9]{1,9}", text):
            return errno.EINVAL
        self._governors.limit_from_outside(name, float(text))
        return 0

    def write(self, host: str, path: str, text: str) -> int | None:
        """Write a text to a file. Return 0 or an errno; None if the path is no such file."""
        found = self._find(host, path)
        if found is None:
            return None
        (name, file), wanted = found, text.removesuffix("\n")
        if file == "limit":
            return self._limit(name, wanted)
        if file != "state":
            return errno.EACCES
        if wanted not in (*STATES, CYCLE):
            return errno.EINVAL
        self._timeline.add(self._clock.now_ns, partial(self._do, name, wanted))
        return 0

    def _do(self, name: str, wanted: str) -> None:
        if wanted != CYCLE:
            self._faults.apply(HostChange(name, wanted))
        elif self.state(name) != "off":  # a host without power stays off, as the IPMI standard says
            self._faults.apply(HostChange(name, "off"), CYCLE_NS)


FILES: Mapping[str, Callable[[Switches, str], str]] = {
    "state": lambda switches, name: switches.state(name),
    "watts": lambda switches, name: f"{0.0 if (meter := switches.meter(name)) is None else meter.watts:.0f}",
    "joules": lambda switches, name: f"{switches.joules(name):.3f}",
    "limit": lambda switches, name: f"{switches.limit_w(name):.0f}",
}
