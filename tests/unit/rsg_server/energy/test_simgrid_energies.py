"""Energies of hosts and links against SimGrid's plugins host_energy and link_energy, to 1e-9."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rsg_server.clock.timeline import Timeline
from rsg_server.energy.hosts import OFF, ON, HostMeters
from rsg_server.energy.links import LinkMeters
from rsg_server.network.models import Model, cm02, lv08
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link
from rsg_server.platform.platform import Platform
from rsg_server.platform.simgrid_xml import load_platform
from rsg_server.process.cpu import Processor
from rsg_server.processor.sharing import NS, Execution
from tests.unit.rsg_server.parts import new_clock

FILE = Path(__file__).resolve().parents[3] / "simgrid_reference/energies.json.gz"
WEIGHT = 1024


@cache
def cases() -> dict[str, dict[str, Any]]:
    found = json.loads(gzip.decompress(FILE.read_bytes()))
    return {case["name"]: case for case in found}


def platform_of(case: dict[str, Any], folder: Path) -> Platform:
    file = folder / "platform.xml"
    file.write_text(case["platform"])
    return load_platform(file)


class Run:
    """The hosts of a platform, whose processors and meters follow the lines of a case."""

    def __init__(self, platform: Platform) -> None:
        self.clock, self.timeline = new_clock(), Timeline()
        self.down: dict[str, None] = {}
        self.hosts = {host.name: host for host in platform.hosts}
        self.meters = HostMeters(lambda: self.clock.now_ns, platform.hosts)
        self.processors = {name: self.processor(host) for name, host in self.hosts.items()}
        self.running: dict[str, list[Execution]] = {name: [] for name in self.hosts}

    def processor(self, host: Host) -> Processor:
        def loaded(cores: float) -> None:
            self.meters.loaded(host.name, cores)

        processor = Processor(self.clock, self.timeline, host, lambda execution: None)
        processor.on_load.connect(loaded)
        return processor

    def run_until(self, moment_ns: int) -> None:
        while (due := self.timeline.next_ns) is not None and due <= moment_ns:
            self.clock.advance_to(due)
            self.timeline.run_due(due)
        self.clock.advance_to(moment_ns)

    def execute(self, name: str, flops: float) -> None:
        processor = self.processors[name]
        self.running[name].append(Execution(None, flops, WEIGHT, processor.every_core))
        processor.start(self.running[name][-1])

    def pstate(self, name: str, state: float) -> None:
        self.processors[name].change_speed(self.hosts[name].speeds_flops[int(state)])
        self.meters.changed_state(name, int(state))

    def off(self, name: str, _: float) -> None:
        for execution in self.running[name]:
            self.processors[name].stop(execution)
        self.meters.switched(name, OFF)

    def on(self, name: str, _: float) -> None:
        self.meters.switched(name, ON)


def joules(platform: Platform, lines: list[str]) -> dict[str, float]:
    """The energy of each host at the end."""
    run = Run(platform)
    for line in sorted(
        (line for line in lines if not line.startswith(("send", "end"))), key=lambda line: float(line.split()[2])
    ):
        what, name, moment, *value = line.split()
        run.run_until(round(float(moment) * NS))
        action: Callable[[str, float], None] = getattr(run, what)
        action(name, float(value[0]) if value else 0.0)
    run.run_until(end_ns(lines))
    return {name: host.meter.joules(run.clock.now_ns) for name, host in run.meters.hosts.items()}


def end_ns(lines: list[str]) -> int:
    return round(float(lines[-1].split()[1]) * NS)


BEGINS_ELSEWHERE = "begins in power state 2"


@pytest.mark.parametrize("number", range(21))
def test_hosts_as_simgrid(number: int, tmp_path: Path) -> None:
    case = [case for name, case in cases().items() if name != BEGINS_ELSEWHERE][number]
    assert joules(platform_of(case, tmp_path), case["lines"]) == pytest.approx(case["hosts"], rel=1e-9)


def test_simgrid_counts_power_state_0_until_something_happens(tmp_path: Path) -> None:
    case = cases()[BEGINS_ELSEWHERE]
    first_s = min(float(line.split()[2]) for line in case["lines"] if not line.startswith("end"))
    assert first_s > 0.1
    there = case["hosts"]["a"] - first_s * (100 - 90)  # idle watts of power states 0 and 2
    assert joules(platform_of(case, tmp_path), case["lines"])["a"] == pytest.approx(there, rel=1e-9)


def test_every_case_is_compared() -> None:
    assert len(cases()) == 22


class Routes:
    """A platform as a network without changes."""

    down: dict[str, None] = {}

    def __init__(self, platform: Platform) -> None:
        self.route = platform.route


def model_of(flags: list[str]) -> Model:
    base = cm02() if "--cfg=network/model:CM02" in flags else lv08()
    return replace(base, cross_traffic="--cfg=network/crosstraffic:0" not in flags)


def link_joules(case: dict[str, Any], folder: Path) -> dict[str, float]:
    platform, model = platform_of(case, folder), model_of(case["flags"])
    links: list[Link] = list(platform.links.values())
    factor = model.bandwidth_factor.of(float("inf"))
    meters = LinkMeters(lambda: 0, Routes(platform), links, factor, model.cross_traffic)
    for line in case["lines"]:
        if line.startswith("send"):
            _, source, destination, _, size = line.split()
            pair = platform.host_by_name(source), platform.host_by_name(destination)
            meters.moved(*pair, 0, 0, round(float(size)))
    return {name: link.joules(end_ns(case["lines"])) for name, link in meters.links.items()}


@pytest.mark.parametrize("name", [f"link, {rest}" for rest in ("idle", "one transfer", "three transfers at once", "LV08")])
def test_links_as_simgrid(name: str, tmp_path: Path) -> None:
    assert link_joules(cases()[name], tmp_path) == pytest.approx(cases()[name]["links"], rel=1e-9)


def test_cross_traffic_loads_the_way_back(tmp_path: Path) -> None:
    case = cases()["link, cross-traffic"]
    assert link_joules(case, tmp_path) == pytest.approx(case["links"], rel=1e-9)


def test_simgrid_counts_the_latency_of_a_flow_as_load(tmp_path: Path) -> None:
    case, latency_s, slope_w, flows = cases()["link with a latency"], 50e-6, 25.0, 2
    there = case["links"]["l"] - flows * latency_s * slope_w
    assert link_joules(case, tmp_path) == pytest.approx({"l": there}, rel=1e-9)
