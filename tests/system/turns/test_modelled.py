"""The CPU policy modelled: computing takes what a table says, the same in each run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from simunix.calibration.prices import read_prices
from tests.conftest import Simunix

COMPUTE = """
import os, time
begin = time.monotonic()
for _ in range(200):
    sum(range(20_000))
    os.getppid()
print(round((time.monotonic() - begin) * 1e6))
"""


def took(simunix: Simunix, *arguments: str | Path) -> int:
    done = simunix("run", *map(str, arguments), "--", sys.executable, "-c", COMPUTE)
    assert (done.returncode, done.stderr) == (0, "")
    return int(done.stdout)


def test_what_a_charged_run_has_measured_passes_in_each_modelled_run(simunix: Simunix, tmp_path: Path) -> None:
    charged_us = took(simunix, "--set", "cpu_policy=charged", "--out", tmp_path / "charged")
    done = simunix("calibrate", tmp_path / "charged", "-o", tmp_path / "costs.yaml")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert Path(sys.executable).name in done.stdout
    modelled = ("--set", "cpu_policy=modelled", "--set", f"cpu_costs={tmp_path / 'costs.yaml'}", "--out")
    one, two = (took(simunix, *modelled, tmp_path / name) for name in ("one", "two"))
    assert one == two
    assert charged_us * 0.8 < one < charged_us * 1.2
    records = [json.loads((tmp_path / name / "run.json").read_text()) for name in ("one", "two")]
    assert records[0]["events_sha256"] == records[1]["events_sha256"]
    assert records[0]["deterministic"]
    assert records[0]["cpu_policy"] == "modelled"


TWO_PLACES = Path(__file__).parents[1] / "programs/two_places.c"


def test_clock_reads_at_two_places_of_a_program_have_costs_of_their_own(simunix: Simunix, tmp_path: Path) -> None:
    program = tmp_path / "two_places"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", program, TWO_PLACES], check=True)
    costs = tmp_path / "costs.yaml"
    native = microseconds_by_name(subprocess.run([program], check=True, capture_output=True, text=True).stdout)
    assert native["idle"] < native["computing"] / 20
    took = []
    for name, options in (("charged", ()), ("modelled", ("--set", f"cpu_costs={costs}"))):
        done = simunix("run", "--set", f"cpu_policy={name}", *options, "--out", tmp_path / name, "--", program)
        assert (done.returncode, done.stderr) == (0, "")
        took.append(microseconds_by_name(done.stdout))
        assert took[-1]["idle"] < took[-1]["computing"] / 20
        simunix("calibrate", tmp_path / "charged", "-o", costs)
    assert took[1]["computing"] == pytest.approx(took[0]["computing"], rel=0.2)
    assert len([point for point in read_prices(costs)["two_places"] if point.startswith("clock_read@")]) >= 2


def microseconds_by_name(output: str) -> dict[str, int]:
    return {name: int(figure) for name, figure in (line.split() for line in output.splitlines())}


READS = """
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
int main(void)
{
    struct timeval now;

    for (int i = 0; i < 4500000; i++)
        gettimeofday(&now, (void *)0);
    syscall(SYS_getppid);
    return 0;
}
"""


def test_a_program_may_read_the_clock_for_ever_at_no_cost(simunix: Simunix, tmp_path: Path) -> None:
    """More often than one charge can tell; mariadbd does so."""
    program, costs = tmp_path / "reads", tmp_path / "costs.yaml"
    (tmp_path / "reads.c").write_text(READS)
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", program, tmp_path / "reads.c"], check=True)
    costs.write_text("format: simunix costs 1\nprograms:\n  reads: {getppid: 100000}\n")
    done = simunix("run", "--set", "cpu_policy=modelled", "--set", f"cpu_costs={costs}", "--", program)
    assert (done.returncode, done.stderr) == (0, "")


SLEEPS = "import time; begin = time.monotonic(); [time.sleep(0.01) for _ in range(100)]; print(time.monotonic() - begin)"


def test_a_sleep_ends_late_by_as_much_as_linux_lets_it_and_not_under_free(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "costs.yaml").write_text("format: simunix costs 1\nprograms: {}\n")
    modelled = ("--set", "cpu_policy=modelled", "--set", f"cpu_costs={tmp_path / 'costs.yaml'}")
    for options, expected_s in (((), 1.0), (modelled, 1.01)):
        done = simunix("run", *options, "--out", tmp_path / f"{expected_s}", "--", sys.executable, "-c", SLEEPS)
        assert expected_s <= float(done.stdout) < expected_s + 0.001


def test_a_host_that_is_slower_than_the_reference_computes_for_longer(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "costs.yaml").write_text(
        f"format: simunix costs 1\nprograms:\n  {Path(sys.executable).name}: {{getppid: 10000000}}\n"
    )
    modelled = ("--set", "cpu_policy=modelled", "--set", f"cpu_costs={tmp_path / 'costs.yaml'}", "--set")
    one, four = (took(simunix, *modelled, f"cpu_reference={reference}") for reference in ("1Gf", "4Gf"))
    assert 2_000_000 <= one < 2_010_000
    assert 8_000_000 <= four < 8_010_000


def test_a_program_without_costs_computes_in_no_time_and_is_named(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "costs.yaml").write_text("format: simunix costs 1\nprograms: {}\n")
    modelled = ("--set", "cpu_policy=modelled", "--set", f"cpu_costs={tmp_path / 'costs.yaml'}")
    assert took(simunix, *modelled, "--out", tmp_path / "one") < 2000
    record = json.loads((tmp_path / "one" / "run.json").read_text())
    assert record["cpu_policies"]["without_costs"] == [Path(sys.executable).name]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("run", "--set", "cpu_policy=modelled", "--set", "cpu_costs=/nowhere", "--", "true"),
            "cpu_costs: /nowhere: No such file",
        ),
        (("calibrate", "/nowhere"), "/nowhere/cpu_costs.json: No such file or directory; name folders of runs"),
    ],
)
def test_mistakes_are_said_in_a_line(arguments: tuple[str, ...], message: str, simunix: Simunix) -> None:
    done = simunix(*arguments)
    assert done.returncode != 0
    assert message in done.stderr and len(done.stderr.splitlines()) == 1


SLICED = """
name: sliced
hosts: [{name: a, cores: 1}]
cpu_policy: modelled
cpu_costs: COSTS
processes:
  - {name: one, host: a, command: [PYTHON, -c, TAKES_TURNS]}
  - {name: two, host: a, command: [PYTHON, -c, TAKES_TURNS]}
"""
TAKES_TURNS = """
import os, time
moments = []
for _ in range(400):
    os.getppid()
    moments.append(time.monotonic_ns())
print(sum(after - before > 500_000 for before, after in zip(moments, moments[1:])))
"""


def test_where_threads_wait_for_a_core_each_computes_for_a_slice(simunix: Simunix, tmp_path: Path) -> None:
    costs = f"format: simunix costs 1\nprograms:\n  {Path(sys.executable).name}: {{getppid: 20000}}\n"
    (tmp_path / "costs.yaml").write_text(costs)
    text = SLICED.replace("COSTS", str(tmp_path / "costs.yaml")).replace("PYTHON", sys.executable)
    (tmp_path / "s.yaml").write_text(text.replace("TAKES_TURNS", json.dumps(TAKES_TURNS)))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    for name in ("one", "two"):  # 8 ms each, in slices of 0.75 ms
        assert 9 <= int((tmp_path / "out" / "hosts" / "a" / f"{name}.out").read_text()) <= 11
