"""Vidal's Table III.1 under all policies, and a hundred UNIFORM instances, against exact arithmetic. Minutes: all slow."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.system.io.reference import POLICIES, Phases, exclusive, hrr, hrr_orders, shared
from tests.system.io.runs import Instance, ends
from tests.system.runs import run

pytestmark = pytest.mark.slow

F = Fraction
TABLE_III_1 = [(32, F(10), 250), (16, F(5), 500), (8, F(5, 2), 1000), (8, F(5, 2), 1000), (16, F(5), 500)]
ALONE_S = 10_500
FAIR = "best-effort"
EXPECTED = {
    "fifo": (15_249, 1.452),
    "shortest-io": (13_881, 1.322),
    "stretch": (13_881.5, 1.322),
    "longest-remaining": (13_888, 1.323),
    "bandwidth": (13_888, 1.323),
    "lowest-id": (14_133, 1.346),
    "shortest-remaining": (14_569, 1.388),
    "longest-io": (19_240.5, 1.832),
    FAIR: (16_202, 1.543),
}
"""Makespan in seconds and greatest stretch with an ideal disk, ties by the lowest number."""


def repeated(a: Fraction | int, b: Fraction, n: int) -> Phases:
    return [(F(a), b)] * n


def reference(applications: list[Phases], policy: str) -> list[Fraction]:
    return exclusive(applications, policy) if policy in POLICIES else shared(applications)


def test_table_iii_1_under_every_policy(simunix: Simunix, tmp_path: Path) -> None:
    applications = [repeated(*row) for row in TABLE_III_1]
    instances = [Instance(applications, policy) for policy in EXPECTED] + [Instance(applications, None)]
    found = dict(zip([*EXPECTED, "none"], ends(simunix, tmp_path, instances), strict=True))
    for policy, (makespan_s, stretch) in EXPECTED.items():
        times = found[policy]
        print(f"{policy:20} {float(max(times)):12.3f} {float(max(times) / ALONE_S):.4f}")
        assert float(max(times)) == pytest.approx(makespan_s, rel=5e-5), policy
        assert float(max(times) / ALONE_S) == pytest.approx(stretch, abs=6e-4), policy
        for time, exact in zip(times, reference(applications, policy), strict=True):
            assert float(time) == pytest.approx(float(exact), abs=1e-4), policy
    assert found["none"] == found[FAIR]


def uniform(count: int) -> list[tuple[Fraction, Fraction, list[int]]]:
    """Instances of Table II.1, UNIFORM: a, b in whole milliseconds, and how often each application does that."""
    rng = random.Random(19)
    instances = []
    for _ in range(count):
        applications = rng.randint(2, 15)
        a = F(rng.randint(1000, 20_000), 1000)
        b = F(max(1, round(float(a) * 1000 * rng.uniform(0.1, 1))), 1000)
        instances.append((a, b, [rng.randint(100, 200) for _ in range(applications)]))
    return instances


@pytest.mark.endurance
def test_a_hundred_uniform_instances(simunix: Simunix, tmp_path: Path) -> None:
    """HRR's schedule and best effort within 1 % of their closed forms; of twenty, FIFO of exact arithmetic."""
    instances = uniform(100)
    ratios: dict[str, list[float]] = {"fifo": [], FAIR: []}
    for begin in range(0, len(instances), 10):
        policies = ("order", None, "fifo") if begin < 20 else ("order", None)
        some = instances[begin : begin + 10]
        runs = [
            Instance([repeated(a, b, n) for n in counts], policy, hrr_orders(counts) if policy == "order" else None)
            for a, b, counts in some
            for policy in policies
        ]
        found = [max(times) for times in ends(simunix, _folder(tmp_path, begin), runs)]
        for place, (a, b, counts) in enumerate(some):
            rounds, fair, *fifo = found[len(policies) * place : len(policies) * (place + 1)]
            assert float(rounds / hrr(a, b, counts)) == pytest.approx(1, abs=0.01), (a, b, counts)
            assert float(fair / (max(counts) * a + b * sum(counts))) == pytest.approx(1, abs=1e-6), (a, b, counts)
            ratios[FAIR].append(float(fair / rounds))
            for time in fifo:
                exact = max(exclusive([repeated(a, b, n) for n in counts], "fifo"))
                assert float(time / exact) == pytest.approx(1, abs=1e-6), (a, b, counts)
                ratios["fifo"].append(float(time / rounds))
    means = {policy: sum(values) / len(values) for policy, values in ratios.items()}
    print({policy: (round(mean, 4), round(max(ratios[policy]), 3)) for policy, mean in means.items()})
    assert means["fifo"] < 1.10 < means[FAIR] < 1.6


def _folder(base: Path, number: int) -> Path:
    folder = base / str(number)
    folder.mkdir()
    return folder


def test_the_scenario_that_is_shipped(simunix: Simunix, tmp_path: Path) -> None:
    """In Python, by FIFO; the second run is the first one again."""
    first, second = (run(simunix, ROOT / "scenarios" / "vidal.yaml", tmp_path / name) for name in ("first", "second"))
    rows = [line.split() for line in first.output("ionode", "applications").splitlines()]
    assert sorted(int(row[0]) for row in rows) == [1, 2, 3, 4, 5]
    assert max(float(row[1]) for row in rows) == pytest.approx(15_249, rel=0.01)
    assert first.record["events_sha256"] == second.record["events_sha256"]


def test_over_tcp_with_prices_of_calls(simunix: Simunix, tmp_path: Path) -> None:
    """Latency and calls add some milliseconds to FIFO; ties, which they break, decide nothing there."""
    lines = (ROOT / "scenarios" / "vidal.yaml").read_text().replace("unix:/tmp/coordinator", "ionode:7000").splitlines()
    (tmp_path / "tcp.yaml").write_text("\n".join(line for line in lines if not line.startswith("costs:")) + "\n")
    ran = run(simunix, tmp_path / "tcp.yaml", tmp_path / "out")
    ends_s = [float(line.split()[1]) for line in ran.output("ionode", "applications").splitlines()]
    assert 15_249 < max(ends_s) == pytest.approx(15_249, rel=1e-5)
