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
    """The options of a run. Prices of calls are in virtual ns; `nofile` is the soft limit of open files that processes see."""

    seed: int = 0
    epoch_ns: int = 946_684_800 * 10**9  # 2000-01-01T00:00:00Z
    uptime_ns: int = 60 * 10**9
    costs: Costs = field(default_factory=Costs)
    nofile: int = 1024
    nofile_hard: int = 1 << 20
    host_flags: int = 0
    strict: bool = False
    order: Order = field(default_factory=FirstInFirstOut)
    # only in a run of `simunix explore`: the choices between outcomes that are all possible in reality, such as the
    # order of threads
    choices: Choices | None = None
    # real time at the start of the run: a file with a later stamp was made by the run; see next_tick_ns
    begun_ns: int = FOREVER_NS
    # the run ends when the disk that has this folder is full; None: the free space of no disk is watched
    run_folder: Path | None = None
    network_model: Model = field(default_factory=lv08)
    fairness: Fairness = Fairness.CONNECTION
    charging: Charging | None = None  # set for the CPU policy `charged`, None for `free`
    enclosures: tuple[Enclosure, ...] = ()
    lateness: Lateness | None = None  # how much too late timed waits end in a perturbed run
    # seconds by name of the link, for links whose latency differs from the platform's
    latencies: Mapping[str, float] = field(default_factory=dict)
    # how each host boots, by name; a host without an entry boots in no time
    boots: Mapping[str, Boot] = field(default_factory=dict)
