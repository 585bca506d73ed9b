"""Programs that compute share the cores of their host as Linux's scheduler has them share, whatever this computer has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Simunix

COSTS = "format: simunix costs 1\nprograms:\n  cpu_limits: {getppid: 20000000}\n"
SCENARIO = """
name: shares
cpu_policy: {{default: free, programs: {{cpu_limits: modelled}}}}
cpu_costs: costs.yaml
hosts: [{{name: a, cores: {cores}}}]
processes: [{{name: all, host: a, command: [bash, -c, {script}]}}]
"""
CALLS, ALONE_S = 100, 2.0
WEIGHT_OF_NICE_5 = 335 / 1024
"""Of sched_prio_to_weight in Linux's kernel/sched/core.c, beside nice 0."""


def ends_s(simunix: Simunix, folder: Path, cores: int, commands: list[str]) -> list[float]:
    """How long after their common begin programs on one host end, by its clock."""
    (folder / "costs.yaml").write_text(COSTS)
    started = "".join(f"({command}; echo $EPOCHREALTIME) & " for command in commands)
    script = f"echo $EPOCHREALTIME; {started}wait"
    (folder / "s.yaml").write_text(SCENARIO.format(cores=cores, script=json.dumps(script)))
    done = simunix("run", folder / "s.yaml", "--out", folder / "out")
    assert (done.returncode, done.stderr) == (0, "")
    begun_s, *moments_s = map(float, (folder / "out/hosts/a/all.out").read_text().split())
    return sorted(moment_s - begun_s for moment_s in moments_s)


@pytest.mark.parametrize(("programs", "factor"), [(1, 1), (16, 1), (64, 4)])
def test_four_times_as_many_programs_as_cores_take_four_times_as_long(
    programs: int, factor: int, simunix: Simunix, cpu_limits: Path, tmp_path: Path
) -> None:
    ends = ends_s(simunix, tmp_path, 16, [f"{cpu_limits} calls {CALLS}"] * programs)
    assert ends == pytest.approx([factor * ALONE_S] * programs, rel=0.01)


def test_a_nice_program_gets_the_share_of_its_weight_and_all_that_others_leave(
    simunix: Simunix, cpu_limits: Path, tmp_path: Path
) -> None:
    ends = ends_s(simunix, tmp_path, 1, [f"{cpu_limits} calls {CALLS}", f"nice -n 5 {cpu_limits} calls {CALLS}"])
    assert ends == pytest.approx([ALONE_S * (1 + WEIGHT_OF_NICE_5), 2 * ALONE_S], rel=0.01)


def test_programs_that_may_use_one_core_share_it_while_others_are_idle(
    simunix: Simunix, cpu_limits: Path, tmp_path: Path
) -> None:
    ends = ends_s(simunix, tmp_path, 4, [f"taskset -c 2 {cpu_limits} calls {CALLS}"] * 2)
    assert ends == pytest.approx([2 * ALONE_S] * 2, rel=0.01)
