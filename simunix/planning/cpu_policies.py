"""Turn the CPU policies of a scenario, which say how long computing takes, into those of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.platform.platform import Platform
from rsg_server.processor.charges import Charging
from rsg_server.processor.policies import FREE, MODELLED, Policies
from simunix.calibration.prices import SHIPPED, read_prices
from simunix.launch.plan import ProcessSpec
from simunix.scenario.model import CpuPolicySection, Scenario


def charging_of(scenario: Scenario, processes: Sequence[ProcessSpec], folder: Path) -> Charging | None:
    """Return how the run charges computing with virtual time; None if no computing takes time.

    A relative path of a table of computing times is relative to `folder`. Raises SimunixError for a table that cannot
    be read.
    """
    said = scenario.cpu_policy
    section = said if isinstance(said, CpuPolicySection) else CpuPolicySection(default=said)
    policies = Policies(
        default=section.default,
        programs=section.programs,
        hosts={name: host.cpu_policy for host in scenario.hosts for name in host.name if host.cpu_policy is not None},
        processes={f"{spec.name}@{spec.host}": spec.cpu_policy for spec in processes if spec.cpu_policy},
    )
    if policies.all == {FREE}:
        return None
    charging = Charging(policies=policies, reference_flops=scenario.cpu_reference)
    if MODELLED not in policies.all and not scenario.cpu_costs:
        return charging
    return replace(charging, prices=read_prices(folder / scenario.cpu_costs if scenario.cpu_costs else SHIPPED))


def check_speeds(charging: Charging | None, platform: Platform) -> None:
    """Raise SimunixError for a host of speed 0 if computing is charged with virtual time, since any computing there
    would never end.
    """
    still = next((host.name for host in platform.hosts if host.speed_flops <= 0), None)
    if charging is not None and still is not None:
        text = f"host {still} has speed 0 in the platform file, so that no computing ends there"
        raise SimunixError(f"cpu_policy: {text}; give it a speed above 0, or leave all keys cpu_policy out")
