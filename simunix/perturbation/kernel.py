"""Computes the server's options for a perturbed run: how late timed waits end, the latencies of links, the costs of calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rsg_server.options import KernelOptions
from rsg_server.platform.link import Link
from rsg_server.shared.prices import Costs, Lateness
from simunix.perturbation.draws import Draws
from simunix.scenario.perturb_section import PerturbSection

DAEMON_SPREAD = 0.3
"""Standard deviation, from run to run, of the mean time by which timers are late (docs/studies/fidelity.md)."""


def perturbed_options(
    options: KernelOptions, section: PerturbSection, controllers: Iterable[str], links: Mapping[str, Link]
) -> KernelOptions:
    """Return the options of a run, perturbed by their seed."""
    seed, charging = options.seed, options.charging
    if charging is not None:
        charging = replace(charging, prices=prices_of_programs(section, seed, charging.prices))
    return replace(
        options,
        costs=costs_of_calls(section, seed, options.costs),
        charging=charging,
        lateness=lateness_of(section, seed, controllers),
        latencies=latencies_of(section, seed, links),
    )


def lateness_of(section: PerturbSection, seed: int, controllers: Iterable[str]) -> Lateness | None:
    """Return how late timed waits on the controllers' hosts end; None if they end in time. The means of a run are the
    means in the scenario's section, multiplied by a lognormal factor, since the computer of one run is slower than that
    of another.
    """
    hosts = frozenset(controllers)
    if not hosts or not (section.cycles or section.timers):
        return None
    draws = {kind: Draws(seed, kind) for kind in ("cycles", "timers")}
    cycle_ns, wait_ns = (
        round(mean_ns * draws[kind].factor("run", DAEMON_SPREAD))
        for kind, mean_ns in (("cycles", section.cycles), ("timers", section.timers))
    )
    return Lateness(hosts=hosts, wait_ns=wait_ns, cycle_ns=cycle_ns, seed=draws["cycles"].number("stream"))


def latencies_of(section: PerturbSection, seed: int, links: Mapping[str, Link]) -> dict[str, float]:
    """Return the latency, in seconds, of each link whose latency is not 0; empty if links are not perturbed."""
    if not section.latency:
        return {}
    draws = Draws(seed, "latency")
    return {name: link.latency_s * draws.factor(name, section.latency) for name, link in links.items() if link.latency_s > 0}


def costs_of_calls(section: PerturbSection, seed: int, costs: Costs) -> Costs:
    """Return the virtual time that calls cost in this run: all costs are multiplied by one factor, since the computer
    of a run is faster or slower.
    """
    if not section.computing:
        return costs
    factor = Draws(seed, "computing").factor("calls", section.computing)
    return Costs(*(round(cost_ns * factor) for cost_ns in (costs.read_ns, costs.poll_ns, costs.call_ns)))


def prices_of_programs(
    section: PerturbSection, seed: int, prices: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Return how long modelled programs compute, in nanoseconds by program and point (call or clock read); each program
    has a factor of its own.

    Threads with a name of their own (`slurmctld:bckfl`) have the factor of their program.
    """
    if not section.computing:
        return {program: dict(own) for program, own in prices.items()}
    draws = Draws(seed, "computing")
    factors = {program: draws.factor(program.partition(":")[0], section.computing) for program in prices}
    return {program: {point: round(ns * factors[program]) for point, ns in own.items()} for program, own in prices.items()}
