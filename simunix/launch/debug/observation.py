"""The options of `simunix run` that observe a run: `--pcap`, `--link-usage`, `--log-messages`, `--turn-costs` and
`--count-calls`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rsg_server.diagnosis.turn_costs import TurnCosts
    from rsg_server.kernel import Kernel
    from rsg_server.network.usage import LinkUsage
    from rsg_server.storage.usage import DiskUsage
    from rsg_server.turn.call_counts import CallCounts
    from rsg_server.turn.loop import TurnLoop
    from simunix.launch.debug.host_messages import Decoder, HostMessages
    from simunix.launch.run_directory import RunDirectory

LINKS_FILE = "links.csv"
STORAGES_FILE = "storages.csv"


@dataclass(frozen=True, slots=True)
class ObservationOptions:
    """The things that are observed in a run. `pcap` has the names of the hosts whose traffic is captured (empty: all
    hosts; None: no host). `interval_ns` is the time between rows of links.csv.

    With `turn_costs`, the CPU time of each turn (the time for which one thread has the right to run) is measured. With
    `counts_calls`, traps.csv and server_messages.csv are written; with `logs_messages`, host_messages.csv.
    """

    pcap: tuple[str, ...] | None = None
    interval_ns: int | None = None
    turn_costs: bool = False
    counts_calls: bool = False
    logs_messages: bool = False

    def check(self, hosts: list[str]) -> None:
        """Raise SimunixError if an option names a host that is not in `hosts`."""
        for name in self.pcap or ():
            if name not in hosts:
                raise SimunixError(f"pcap: host {name!r}: no such host; known: {', '.join(hosts)}")

    def instead_of(self, other: ObservationOptions) -> ObservationOptions:
        """Return these options; values that these options leave out are taken from `other`."""
        return ObservationOptions(
            other.pcap if self.pcap is None else self.pcap,
            other.interval_ns if self.interval_ns is None else self.interval_ns,
            self.turn_costs or other.turn_costs,
            self.counts_calls or other.counts_calls,
            self.logs_messages or other.logs_messages,
        )


NOTHING = ObservationOptions()


@dataclass(slots=True)
class Observation:
    """Captures and counts the traffic of a run, measures its turns and counts its calls, from the start of the run to
    `close`.

    The activity of storages is always counted, if the run has storages.
    """

    kernel: Kernel
    turns: TurnLoop
    directory: RunDirectory
    options: ObservationOptions
    decoders: Mapping[str, Decoder] = field(default_factory=dict)  # the functions that find messages in bytes, by host name
    _messages: HostMessages | None = field(default=None, init=False)
    _usage: LinkUsage | None = field(default=None, init=False)
    _costs: TurnCosts | None = field(default=None, init=False)
    _counts: CallCounts | None = field(default=None, init=False)
    _disks: DiskUsage | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        kernel, options = self.kernel, self.options
        options.check(list(kernel.hosts))
        if options.pcap is not None:
            from rsg_server.capture.capture import Capture

            kernel.wire.capture = Capture(options.pcap or list(kernel.hosts), self.directory.host, kernel.options.epoch_ns)
        if options.interval_ns is not None:
            from rsg_server.network.usage import LinkUsage

            self._usage = LinkUsage(kernel.network, options.interval_ns, lambda: kernel.now_ns)
            kernel.wire.watchers.append(self._usage)
        if options.logs_messages:
            from simunix.launch.debug import host_messages

            path = self.directory.path / host_messages.FILE
            self._messages = host_messages.HostMessages(path, lambda: kernel.now_ns, self.decoders)
            kernel.wire.readers.append(self._messages)
        if any(host.disks for host in kernel.platform.hosts):
            from rsg_server.storage.usage import DiskUsage

            self._disks = kernel.network.sharing.usage = DiskUsage(kernel.platform.hosts)
        if options.turn_costs:
            from rsg_server.diagnosis.turn_costs import TurnCosts

            self._costs = TurnCosts(kernel, self.directory.path)
        if options.counts_calls:
            from rsg_server.turn.call_counts import CallCounts

            self._counts = CallCounts(kernel.shared.fd, kernel.hosts)
            self.turns.handlers = self._counts.counting(self.turns.handlers)
            self.turns.parks.count = self._counts.count_park

    def close(self) -> None:
        """Write the observed packets, links, turns and calls that are still in memory to their files."""
        if self.kernel.wire.capture is not None:
            self.kernel.wire.capture.close()
        if self._messages is not None:
            self._messages.close()
        if self._usage is not None:
            self._usage.write(self.directory.path / LINKS_FILE)
        if self._disks is not None:
            self._disks.write(self.directory.path / STORAGES_FILE, self.kernel.now_ns)
        if self._costs is not None:
            self._costs.close()
        if self._counts is not None:
            from simunix.launch.debug import call_counts

            call_counts.write_traps(self.directory.path / call_counts.TRAPS_FILE, self._counts.places())
            call_counts.write_messages(self.directory.path / call_counts.MESSAGES_FILE, self._counts.messages)
            self._counts.close()
