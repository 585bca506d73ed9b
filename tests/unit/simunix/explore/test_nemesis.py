"""The nemesis brings what its section allows, the same for the same seed, and heals in time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix import units
from simunix.explore.nemesis import Event, Targets, faults_of, targets
from simunix.scenario.faults import EventSection
from simunix.scenario.model import HostSection, Scenario
from simunix.scenario.nemesis_section import FAULT_KINDS, NemesisSection

S = 10**9
FOUND = Targets(("a", "b", "c", "d"), {"b": ("disk",)}, {"b": ("one", "two"), "d": ("one",)}, {"b": ("two",)})
SECTIONS = st.builds(
    NemesisSection,
    faults=st.lists(st.sampled_from(FAULT_KINDS), min_size=1, max_size=len(FAULT_KINDS), unique=True).map(tuple),
    every=st.integers(1, 20),
    heal=st.integers(2, 100),
    at_most=st.integers(1, 3),
)


def victims(event: Event) -> set[str]:
    """The hosts that an event hurts."""
    for key in ("storage", "process"):
        if key in event:
            return {event[key].partition(":")[0]}
    return set((event.get("host") or event.get("link") or event["partition"]).split(","))


@given(st.integers(1, 10_000), SECTIONS)
def test_faults_are_events_that_heal_and_spare_the_others(seed: int, section: NemesisSection) -> None:
    events = faults_of(seed, section, FOUND)
    assert faults_of(seed, section, FOUND) == events
    spans = []
    for event in events:
        parsed = EventSection.model_validate(event)
        assert parsed.duration is not None
        if "process" in event:
            host, _, name = event["process"].partition(":")
            assert name in (FOUND.daemons if event["state"] == "killed" else FOUND.processes)[host]
        begin_ns, end_ns = parsed.at, parsed.at + parsed.duration
        assert section.start <= begin_ns and end_ns <= section.heal + S // 500
        spans.append((begin_ns, end_ns, victims(event)))
    for begin_ns, _, _ in spans:
        hurt = {host for begin, end, hosts in spans if begin <= begin_ns < end - S // 500 for host in hosts}
        assert len(hurt) <= section.at_most


def test_seed_0_brings_none_and_seeds_differ() -> None:
    section = NemesisSection()
    assert faults_of(0, section, FOUND) == []
    assert len({str(faults_of(seed, section, FOUND)) for seed in range(1, 30)}) > 20


def test_moments_are_units_that_scenarios_know() -> None:
    event = next(event for seed in range(1, 9) for event in faults_of(seed, NemesisSection(), FOUND))
    assert units.duration_ns(event["at"]) % 10**6 == 0


def test_what_does_not_exist_is_named() -> None:
    scenario = Scenario(hosts=[HostSection(name="a")])
    with pytest.raises(SimunixError, match=r"nemesis\.hosts: there is no host b"):
        targets(scenario, NemesisSection(hosts="b"))
    with pytest.raises(SimunixError, match=r"nemesis\.faults: no host of the nemesis has a storage"):
        targets(scenario, NemesisSection(faults=("storage",)))
    with pytest.raises(SimunixError, match=r"faults: no host of the nemesis has a process with restart nor a storage; add one"):
        targets(scenario, NemesisSection(faults=("kill", "storage")))


def test_processes_are_those_of_the_scenario_and_daemons_those_with_restart() -> None:
    processes = [
        {"name": "server", "host": "a,b", "command": "x", "restart": "always"},
        {"name": "client", "host": "b", "command": "x"},
        {"name": "client", "host": "b", "command": "y"},
    ]
    scenario = Scenario.model_validate({"hosts": [{"name": "a,b"}], "processes": processes})
    found = targets(scenario, NemesisSection.model_validate({"hosts": "b"}))
    assert (found.processes, found.daemons) == ({"b": ("server", "client")}, {"b": ("server",)})
    assert found.able("kill") == ["b"] and found.able("storage") == [] and found.able("power") == ("b",)
