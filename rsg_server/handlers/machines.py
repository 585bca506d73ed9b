"""Handles MACHINES: a program asks for hosts, also other than its own, to be switched (prctl(PR_SIMUNIX_MACHINES)).

A request is a line of words. The change happens at the virtual time of the request, when the caller has given the turn
back; several changes happen in the order of the requests.

    on HOST...         boot hosts that are off. A host that still shuts down stays as it is, as under a power button.
    off HOST...        cut the power of hosts.
    shutdown HOST...   send SIGTERM to the programs of hosts, SIGKILL after ten seconds, then switch the hosts off.
    pstate N HOST...   put hosts into power state N.
    limit W HOST...    keep each host at W watts at most by slower power states, whatever its programs set. 0: no limit.
    watts [HOST...]    -> "WATTS JOULES": the sums of what hosts draw and have drawn. Default: all hosts and enclosures.

If a part of a request cannot be done, the whole request is refused; the answer is then `! ` and the reason.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from rsg_server.faults.changes import Change, Fault, HostChange, PowerStateChange
from rsg_server.faults.faults import check
from rsg_server.handlers.table import Handler, Reply, handled
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.energy.energy import Energy
    from rsg_server.faults.faults import Faults
    from rsg_server.platform.platform import Platform
    from rsg_server.power_files.governors import Governors
    from rsg_server.process.actor import Actor
    from rsg_server.shared.clock import Clock

ANSWER_BYTES = 3000
LIMIT = r"[0-9]{1,9}(\.[0-9]{1,9})?"


class MachineHandlers:
    """Handles MACHINES: switches hosts on and off, limits their power, and says what they draw."""

    def __init__(self, platform: Platform, faults: Faults, energy: Energy, governors: Governors, clock: Clock) -> None:
        self._platform, self._faults, self._energy, self._governors, self._clock = platform, faults, energy, governors, clock
        self._requests: dict[str, Callable[[list[str]], str]] = {
            "on": self._switch,
            "off": self._switch,
            "shutdown": self._switch,
            "pstate": self._set_state,
            "limit": self._limit,
            "watts": self._watts,
        }

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled({Op.MACHINES: self.machines})

    def machines(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Carry out a request, which is a line of words (see the top of this file).

        [request] -> [0, answer], or [-EINVAL, reason with a zero byte at its end].
        """
        words = arguments[0].decode(errors="replace").split()
        try:
            answer = self._requests.get(words[0] if words else "", self._unknown)(words)
        except SimunixError as error:
            return Reply((-errno.EINVAL, f"! {error}".encode()[:ANSWER_BYTES] + b"\0"))
        return Reply((0, answer.encode()))

    def _switch(self, words: list[str]) -> str:
        return self._change([HostChange(host, words[0]) for host in words[1:]])

    def _set_state(self, words: list[str]) -> str:
        if len(words) < 2 or not words[1].isdecimal() or len(words[1]) > 6:
            raise SimunixError(f"pstate: expected the number of a power state and hosts, got {' '.join(words[1:])[:80]!r}")
        return self._change([PowerStateChange(host, int(words[1])) for host in words[2:]])

    def _change(self, changes: Sequence[Change]) -> str:
        if not changes:
            raise SimunixError("machines: no host given; name one or more hosts behind the operation")
        for change in changes:
            check(self._platform, change)
        self._faults.schedule(Fault(self._clock.now_ns, change) for change in changes)
        return ""

    def _limit(self, words: list[str]) -> str:
        if len(words) < 3 or not re.fullmatch(LIMIT, words[1]):
            raise SimunixError(f"limit: expected watts such as 250 or 193.5, and hosts, got {' '.join(words[1:])[:80]!r}")
        for name in words[2:]:
            if name not in self._governors.of:
                raise SimunixError(f"limit: there is no host {name!r} with wattage_per_state")
        for name in words[2:]:
            self._governors.limit_from_outside(name, float(words[1]))
        return ""

    def _watts(self, words: list[str]) -> str:
        hosts, now_ns = self._energy.hosts, self._clock.now_ns
        for name in words[1:]:
            if name not in hosts.hosts:
                raise SimunixError(f"watts: there is no host {name!r} with wattage_per_state")
        meters = [hosts.hosts[name].meter for name in words[1:]] if words[1:] else hosts.meters()
        return f"{sum(meter.watts for meter in meters):.6f} {sum(meter.joules(now_ns) for meter in meters):.6f}"

    def _unknown(self, words: list[str]) -> str:
        raise SimunixError(f"machines: there is no request {' '.join(words[:1])[:40]!r}; known: {', '.join(self._requests)}")
