"""The server's options in a perturbed run, and that the seed 0 changes no option."""

from __future__ import annotations

import pytest

from rsg_server.options import KernelOptions
from rsg_server.platform.link import Link
from rsg_server.shared.prices import Costs
from simunix.perturbation.kernel import perturbed_options, prices_of_programs
from simunix.rjms.scenario import Scenario
from simunix.scenario.loader import from_overrides
from simunix.scenario.perturb_section import PerturbSection

LINKS = {"a": Link("a", 1e9, 1e-3), "b": Link("b", 1e9, 2e-3), "loop": Link("loop", 1e9, 0.0)}
EVERYTHING = PerturbSection(submission=True, run_time=True, cycles=True, timers=True, latency=True, computing=True)


def options(section: PerturbSection, seed: int = 5) -> KernelOptions:
    return perturbed_options(KernelOptions(seed=seed), section, ["controller"], LINKS)


def test_each_kind_changes_its_own_alone() -> None:
    plain = KernelOptions(seed=5)
    every, links, waits = options(EVERYTHING), options(PerturbSection(latency=True)), options(PerturbSection(cycles=True))
    assert links.latencies == every.latencies and links.costs == plain.costs and links.lateness is None
    assert every.latencies.keys() == {"a", "b"} and 0.7e-3 < every.latencies["a"] < 1.3e-3
    assert every.latencies["b"] != 2 * every.latencies["a"]
    assert waits.latencies == {} and waits.lateness is not None and every.lateness is not None
    assert waits.lateness.cycle_ns == every.lateness.cycle_ns and waits.lateness.wait_ns == 0 < every.lateness.wait_ns
    assert options(PerturbSection(computing=True)).costs == every.costs != Costs()
    again, other = options(EVERYTHING), options(EVERYTHING, seed=6)
    assert (again.lateness, again.latencies, again.costs) == (every.lateness, every.latencies, every.costs)
    assert other.lateness != every.lateness and other.latencies != every.latencies


def test_a_program_computes_by_one_factor_in_all_its_threads() -> None:
    prices = {"slurmctld": {"read": 1000, "image": 10**6}, "slurmctld:bckfl": {"read": 10**6}, "sbatch": {"read": 1000}}
    found = prices_of_programs(PerturbSection(computing=True), 5, prices)
    factor = found["slurmctld"]["image"] / 1e6
    assert found["slurmctld:bckfl"]["read"] == pytest.approx(1e6 * factor, abs=1)
    assert found["sbatch"]["read"] != found["slurmctld"]["read"]


@pytest.mark.parametrize(
    ("seed", "perturb", "is_perturbed"),
    [
        (0, "true", False),
        (1, "true", True),
        (1, "false", False),
        (1, "{}", False),
        (1, "{ties: true}", True),
        (1, "null", False),
    ],
)
def test_the_seed_zero_perturbs_nothing(seed: int, perturb: str, is_perturbed: bool) -> None:
    settings = [f"seed={seed}", f"perturb={perturb}"]
    scenario = from_overrides(Scenario, {"hosts": [{"name": "a"}]}, "test", settings)
    assert (scenario.perturbation is not None) == is_perturbed
