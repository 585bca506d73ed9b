"""Experiments of Vidal's thesis that have exact answers: real coordinator, real writes, and the answers by hand (E1 to E6)."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.system.io.reference import POLICIES, Phases, exclusive, hrr, hrr_orders, shared
from tests.system.io.runs import BANDWIDTH, HEAD, Instance, ends
from tests.system.runs import run

F = Fraction
NANOSECOND = F(1, 10**9)


def periodic(a: object, b: object, n: int) -> Phases:
    """The phases (a, b), n times."""
    return [(F(str(a)), F(str(b)))] * n


EPSILON = F(1, 100)
LOPSIDED = [[(F(0), F(1))], [(EPSILON, EPSILON), (F(1), F(0))]]
HRR_COUNTS = (4, 4, 2, 2, 1)
HRR_EXAMPLE = [periodic("2.5", 1, n) for n in HRR_COUNTS]
DISSIMILAR = [periodic(10, 10, 5), periodic(1, 1, 50)]
FAIR = "best-effort"
EXPECTED: dict[str, tuple[Sequence[Phases], str | None, list[object]]] = {
    "E1 list": (LOPSIDED, "fifo", [1, 2 + EPSILON]),
    "E1 fair": (LOPSIDED, FAIR, [1 + EPSILON, 1 + 3 * EPSILON]),
    "E4 FIFO": ([periodic(4, 2, 10)] * 2, "fifo", [60, 62]),
    "E4 fair": ([periodic(4, 2, 10)] * 2, FAIR, [80, 80]),
    "E4 four FIFO": ([periodic(2, 2, 5)] * 4, "fifo", [36, 38, 40, 42]),
    "E4 four fair": ([periodic(2, 2, 5)] * 4, FAIR, [50] * 4),
    "E5 exclusive": ([periodic(3, 2, 1)] * 2, "fifo", [5, 7]),
    "E5 fair": ([periodic(3, 2, 1)] * 2, FAIR, [7, 7]),
    "E6 FIFO": (DISSIMILAR, "fifo", [100, 149]),
    "E6 fair": (DISSIMILAR, FAIR, [125, 125]),
    "E6 without a coordinator": (DISSIMILAR, None, [125, 125]),
}
"""Applications, policy, and the seconds after which each application ends."""
MAKESPANS: dict[str, tuple[str, int]] = {
    "E2 longest remaining": ("longest-remaining", 16),
    "E2 FIFO": ("fifo", 17),
    "E2 and E3 best effort": (FAIR, 23),
}
"""Of HRR_EXAMPLE: policy and makespan. Best effort's is n·a + b·(sum of all n), E3."""


def test_the_disk_is_granted_to_one_and_shared_without_a_coordinator(simunix: Simunix, tmp_path: Path) -> None:
    """Two dissimilar applications: 100 and 149 s one after the other, 125 s each at the same time (E6)."""
    names = ("E6 FIFO", "E6 without a coordinator")
    found = ends(simunix, tmp_path, [Instance(EXPECTED[name][0], EXPECTED[name][1]) for name in names])
    assert found == [EXPECTED[name][2] for name in names]


@pytest.mark.slow
def test_the_experiments_with_exact_answers(simunix: Simunix, tmp_path: Path) -> None:
    instances = [Instance(applications, policy) for applications, policy, _ in EXPECTED.values()]
    instances += [Instance(HRR_EXAMPLE, policy) for policy, _ in MAKESPANS.values()]
    instances.append(Instance(HRR_EXAMPLE, "order", hrr_orders(HRR_COUNTS)))
    found = ends(simunix, tmp_path, instances)
    for name, times, (_, _, expected) in zip(EXPECTED, found, EXPECTED.values(), strict=False):
        for time, value in zip(times, expected, strict=True):
            assert abs(time - F(str(value))) <= NANOSECOND, (name, [float(each) for each in times])
    for name, times in zip(MAKESPANS, found[len(EXPECTED) :], strict=False):
        assert abs(max(times) - MAKESPANS[name][1]) <= NANOSECOND, (name, [float(each) for each in times])
    assert max(found[-1]) == hrr(F("2.5"), F(1), HRR_COUNTS) == 16


@pytest.mark.slow
def test_on_disks_of_their_own_applications_do_not_wait(simunix: Simunix, tmp_path: Path) -> None:
    """The control: what best effort takes in E3, E4 and E6 comes from sharing, and is not there without."""
    alone = [Instance([phases], None) for phases in (*DISSIMILAR, periodic(4, 2, 10), *HRR_EXAMPLE[:1])]
    assert [times[0] for times in ends(simunix, tmp_path, alone)] == [100, 100, 60, 14]


VOLUMES = {1: 1000, 2: 1000, 3: 4000, 4: 4000}
"""Of E8, by application: bytes of a phase on a disk of 1 kB/s."""
GROUPS: dict[str, tuple[dict[int, str], dict[str, int], float]] = {
    "one": (dict.fromkeys(VOLUMES, "all"), {"all": 1000}, 4.0),
    "each": ({number: f"g{number}" for number in VOLUMES}, {f"g{number}": 250 for number in VOLUMES}, 4.0),
    "pairs": ({1: "small", 2: "small", 3: "large", 4: "large"}, {"small": 500, "large": 500}, 2.0),
}
"""Group of each application, bandwidth of each group, and the objective: what the worst off waits for one of its group."""


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPS)
def test_exclusive_groups_keep_to_their_bandwidths(simunix: Simunix, tmp_path: Path, name: str) -> None:
    """E8: measured by the coordinator's log, with clients that write no faster than their grant says."""
    groups, rates, objective = GROUPS[name]
    rate_words = " ".join(f"--rate {group}={rate}" for group, rate in rates.items())
    begin = HEAD.format(stop="applications", count=1, bandwidth=BANDWIDTH, root=ROOT)
    daemon = f"{sys.executable} -m simunix.io_coordinator --listen unix:/tmp/coordinator --log /tmp/log {rate_words}"
    program = f"{sys.executable} -m simunix.io_coordinator.periodic"
    lines = [
        f"      {program} {number} 0.5 {size} 3 --group {groups[number]} --bandwidth {BANDWIDTH} --file /srv/pfs/{number}"
        f" --coordinator unix:/tmp/coordinator &"
        for number, size in VOLUMES.items()
    ]
    text = f"{begin}  - {{name: coordinator, host: i1, command: '{daemon}'}}\n"
    text += "  - name: applications\n    host: i1\n    start: 1s\n    command: |\n" + "\n".join(lines)
    (tmp_path / "s.yaml").write_text(f"{text}\n      wait; cat /tmp/log\n")
    ran = run(simunix, tmp_path / "s.yaml", tmp_path / "out")
    output = ran.output("i1", "applications")
    phases = list(csv.DictReader(output[output.index("application,") :].splitlines()))
    assert len(phases) == 12, output
    took = {
        number: max(float(row["released"]) - float(row["granted"]) for row in phases if row["application"] == str(number))
        for number in VOLUMES
    }
    worst = max(
        took[other] / (size / BANDWIDTH)
        for number, size in VOLUMES.items()
        for other in VOLUMES
        if groups[other] == groups[number]
    )
    assert worst == pytest.approx(objective, rel=0.02), took


def test_the_reference_agrees_with_what_was_worked_out_by_hand() -> None:
    for name, (applications, policy, expected) in EXPECTED.items():
        times = exclusive(applications, policy) if policy in POLICIES else shared(applications)
        assert times == [F(str(value)) for value in expected], name
    for name, (policy, makespan) in MAKESPANS.items():
        times = exclusive(HRR_EXAMPLE, policy) if policy in POLICIES else shared(HRR_EXAMPLE)
        assert max(times) == makespan, name
