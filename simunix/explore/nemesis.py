"""The nemesis: draws the faults of a seed, as the events that a scenario could have written itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rsg_server.errors import SimunixError
from simunix.explore.seeds import generator
from simunix.scenario.model import ProcessSection, Scenario
from simunix.scenario.nemesis_section import NemesisSection
from simunix.scenario.storage_section import StorageSection

NS = 10**9
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Targets:
    """What can be hurt: hosts, and by host the storages, the processes, and of these the daemons, which have `restart`."""

    hosts: tuple[str, ...]
    storages: dict[str, tuple[str, ...]]
    processes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    daemons: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def able(self, kind: str) -> Sequence[str]:
        """The hosts that a kind of fault can hurt."""
        needed = {"storage": self.storages, "kill": self.daemons, "stop": self.processes}.get(kind)
        return self.hosts if needed is None else [host for host in self.hosts if host in needed]


def targets(scenario: Scenario, section: NemesisSection) -> Targets:
    """The hosts, storages and processes that faults may hit. SimunixError names the key of what does not exist."""
    all_hosts = [name for host in scenario.hosts for name in host.name]
    hosts = section.hosts if section.hosts is not None else tuple(all_hosts)
    for host in hosts:
        if host not in all_hosts:
            raise SimunixError(f"nemesis.hosts: there is no host {host}; name some of hosts")
    daemons = [process for process in scenario.processes if process.restart != "never"]
    found = Targets(hosts, *(_by_host(each, hosts) for each in (scenario.storages, scenario.processes, daemons)))
    if not any(found.able(kind) for kind in section.faults):
        lacks = " nor ".join(dict.fromkeys(LACKED[kind] for kind in section.faults if kind in LACKED))
        raise SimunixError(f"nemesis.faults: no host of the nemesis has {lacks}; add one, or other faults")
    return found


LACKED = {"storage": "a storage", "kill": "a process with restart", "stop": "a process"}
"""What a host must have for a kind of fault."""


def _by_host(sections: Sequence[StorageSection | ProcessSection], hosts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The names of storages or processes on each of some hosts that has any."""
    found: dict[str, list[str]] = {}
    for section in sections:
        for host in section.host:
            if host in hosts and section.name not in found.setdefault(host, []):
                found[host].append(section.name)
    return {host: tuple(names) for host, names in found.items() if names}


def _power(draw: random.Random, host: str, found: Targets) -> Event:
    return {"host": host, "state": "off"}


def _partition(draw: random.Random, host: str, found: Targets) -> Event:
    others = [name for name in found.hosts if name != host]
    half = [host, *draw.sample(others, draw.randint(0, max(len(found.hosts) // 2 - 1, 0)))]
    return {"partition": ",".join(name for name in found.hosts if name in half)}


def _link(draw: random.Random, host: str, found: Targets) -> Event:
    return {"link": host, "state": "down"}


def _slow(draw: random.Random, host: str, found: Targets) -> Event:
    return {"link": host, "latency": f"{draw.choice((1, 5, 20, 100, 500))}ms"}


def _loss(draw: random.Random, host: str, found: Targets) -> Event:
    return {"link": host, "loss": f"{draw.choice((1, 5, 20, 50))}%"}


def _storage(draw: random.Random, host: str, found: Targets) -> Event:
    names = found.storages[host]
    kind = draw.choice(("full", "failing", "read-only", "slow"))
    wrong = {"latency": f"{draw.choice((10, 100, 1000))}ms"} if kind == "slow" else {"state": kind}
    return {"storage": f"{host}:{draw.choice(names)}", **wrong}


def _clock(draw: random.Random, host: str, found: Targets) -> Event:
    return {"host": host, "clock": f"{draw.choice('+-')}{draw.choice((100, 1000, 10_000, 60_000, 3_600_000))}ms"}


def _drift(draw: random.Random, host: str, found: Targets) -> Event:
    return {"host": host, "drift": f"{draw.choice('+-')}{draw.choice((50, 500, 5000))}ppm"}


def _kill(draw: random.Random, host: str, found: Targets) -> Event:
    return {"process": f"{host}:{draw.choice(found.daemons[host])}", "state": "killed"}


def _stop(draw: random.Random, host: str, found: Targets) -> Event:
    return {"process": f"{host}:{draw.choice(found.processes[host])}", "state": "stopped"}


MAKERS: dict[str, Callable[[random.Random, str, Targets], Event]] = {
    "power": _power,
    "partition": _partition,
    "link": _link,
    "slow": _slow,
    "loss": _loss,
    "storage": _storage,
    "clock": _clock,
    "drift": _drift,
    "kill": _kill,
    "stop": _stop,
}


def faults_of(seed: int, section: NemesisSection, found: Targets) -> list[Event]:
    """The events of a seed, in the order of their moments; none for seed 0.

    The seed draws a subset of the kinds, how much more or less often than `every` faults come (a factor of 1/4 to 4), then
    moments with exponentially distributed pauses. Moments and durations are whole milliseconds.
    """
    if seed == 0:
        return []
    draw = generator("nemesis", seed)
    kinds = [kind for kind in section.faults if found.able(kind)]
    kinds = draw.sample(kinds, draw.randint(1, len(kinds)))
    pause_ns = section.every * 4.0 ** draw.uniform(-1, 1)
    events: list[Event] = []
    hurt: list[tuple[int, str]] = []  # until when, and whom
    moment_ns = section.start
    while True:
        moment_ns += int(draw.expovariate(1) * pause_ns)
        if moment_ns >= section.heal:
            return events
        hurt = [(end_ns, host) for end_ns, host in hurt if end_ns > moment_ns]
        end_ns = min(moment_ns + int(draw.uniform(0.05, 2) * pause_ns), section.heal)
        event = _one(draw, kinds, found, {host for _, host in hurt}, section.at_most)
        if event is None or end_ns - moment_ns < NS // 1000:
            continue
        whom, change = event
        hurt += [(end_ns, host) for host in whom]
        events.append({"at": _text(moment_ns), **change, "duration": _text(end_ns - moment_ns)})


def _one(
    draw: random.Random, kinds: Sequence[str], found: Targets, hurt: set[str], at_most: int
) -> tuple[Sequence[str], Event] | None:
    """A fault, and the hosts that it hurts; None if too many hosts would be hurt at a time, or nothing fits."""
    kind = draw.choice(kinds)
    able = [host for host in found.able(kind) if host not in hurt]
    if not able:
        return None
    host = draw.choice(able)
    event = MAKERS[kind](draw, host, found)
    whom = event["partition"].split(",") if "partition" in event else [host]
    if len(hurt | set(whom)) > at_most:
        if "partition" not in event or len(hurt) >= at_most:
            return None
        event, whom = {"partition": host}, [host]
    return whom, event


def _text(time_ns: int) -> str:
    return f"{time_ns / NS:.3f}s"
