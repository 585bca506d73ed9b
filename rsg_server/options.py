"""The options of a run, fixed before the run begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rsg_server.choices.source import Choices
from rsg_server.network.models import Model, lv08
from rsg_server.network.sharing import Fairness
from rsg_server.order import FirstInFirstOut, Order
from rsg_server.platform.power import Boot, Enclosure
from rsg_server.processor.charges import Charging
from rsg_server.shared.clock import FOREVER_NS
from rsg_server.shared.prices import Costs, Lateness


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelOptions:
    """The options of a run. Costs are virtual nanoseconds; `nofile` is the soft limit of open files that processes see."""

    seed: int = 0
    epoch_ns: int = 946_684_800 * 10**9  # 2000-01-01T00:00:00Z
    uptime_ns: int = 60 * 10**9
    costs: Costs = field(default_factory=Costs)
    nofile: int = 1024
    nofile_hard: int = 1 << 20
    host_flags: int = 0
    strict: bool = False
    order: Order = field(default_factory=FirstInFirstOut)
    choices: Choices | None = None  # of a run that explores: what happens where reality could go on otherwise
    begun_ns: int = FOREVER_NS  # real time from which on the run made files, see next_tick_ns
    run_folder: Path | None = None  # when the disk that has it becomes full, the run ends; None: no disk is looked at
    network_model: Model = field(default_factory=lv08)
    fairness: Fairness = Fairness.CONNECTION
    charging: Charging | None = None  # CPU policy charged; None: free
    enclosures: tuple[Enclosure, ...] = ()
    lateness: Lateness | None = None  # of timed waits in a perturbed run
    latencies: Mapping[str, float] = field(default_factory=dict)  # in seconds, by link, where not the platform's
    boots: Mapping[str, Boot] = field(default_factory=dict)  # by host; others boot in no time
