"""A replay that departs from its recording warns, and goes on with the table of costs; a recording of another scenario
is refused.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rsg_server.processor.recording import HEADER
from tests.conftest import Simunix

COSTS = "format: simunix costs 1\nprograms:\n  cpu_limits: {getppid: 1000000}\n"
SCENARIO = """
name: recorded
cpu_policy: charged
hosts: [{name: a}, {name: b}]
processes: [{name: calls, host: a, command: [PROGRAM, calls, '2000']}]
"""


def read(out: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((out / "run.json").read_text())
    return found


def test_a_run_that_departs_goes_on_with_the_table_the_same_each_time(
    simunix: Simunix, cpu_limits: Path, tmp_path: Path
) -> None:
    recorded, costs = tmp_path / "one", tmp_path / "costs.yaml"
    costs.write_text(COSTS)
    done = simunix("run", "--set", "cpu_policy=charged", "--out", str(recorded), "--", str(cpu_limits), "calls", "2000")
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("two", "three"):
        replay = ("--replay-cpu", str(recorded), "--set", "cpu_policy=charged", "--set", f"cpu_costs={costs}")
        done = simunix("run", *replay, "--out", str(tmp_path / name), "--", str(cpu_limits), "calls", "2500")
        assert done.returncode == 0
        (said,) = done.stderr.splitlines()
        assert said.startswith("simunix: --replay-cpu: at turn ") and "the run departs from the recording at charge " in said
        assert said.endswith("from here on computing takes what the table of costs says (modelled)")
    first, again, repeated = (read(tmp_path / name) for name in ("one", "two", "three"))
    longer = again["virtual_s"] - first["virtual_s"]  # type: ignore[operator]
    assert 0.49 < longer < 0.51  # 500 calls more, of a millisecond each
    assert again["events_sha256"] == repeated["events_sha256"]
    assert again["deterministic"] and again["warnings"]


def test_a_program_that_ends_before_its_recording_departs(simunix: Simunix, cpu_limits: Path, tmp_path: Path) -> None:
    recorded = tmp_path / "one"
    assert (
        simunix("run", "--set", "cpu_policy=charged", "--out", str(recorded), "--", str(cpu_limits), "calls", "900").returncode
        == 0
    )
    done = simunix("run", "--replay-cpu", str(recorded), "--out", str(tmp_path / "two"), "--", str(cpu_limits), "calls", "3")
    assert done.returncode == 0
    assert "the run departs from the recording at charge" in done.stderr


@pytest.fixture(scope="module")
def recording(cpu_limits: Path, simunix: Simunix, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recording")
    (folder / "s.yaml").write_text(SCENARIO.replace("PROGRAM", str(cpu_limits)))
    done = simunix("run", folder / "s.yaml", "--set", f"shared=[{cpu_limits.parent}]", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder


def cut(folder: Path) -> None:
    charges = folder / "cpu_charges"
    charges.write_bytes(charges.read_bytes()[:-2])


@pytest.mark.parametrize(
    ("arguments", "spoil", "message"),
    [
        (("--set", "name=other"), None, "that was a run of recorded, this is one of other; give the same scenario or command"),
        (("--seed", "3"), None, "its seed was 0, this run's is 3; give --seed 0"),
        (("--set", "hosts=[{name: a}, {name: b}, {name: c}]"), None, "had other hosts (2, here 3); run with those of its scen"),
        (("--set", "hosts=[{name: a, cores: 2}, {name: b}]"), None, "had other hosts (other names, cores or speeds)"),
        (
            ("--set", "cpu_policy={default: charged, programs: {sh: free}}"),
            None,
            "other CPU policies (programs: {}, here {'sh':",
        ),
        (
            (),
            lambda folder: (folder / "cpu_charges").unlink(),
            "cpu_charges: No such file or directory; a run with cpu_policy:",
        ),
        (
            ("--set", "cpu_reference=2Gf"),
            None,
            "its cpu_reference was 1e+09 flop/s, this run's is 2e+09; give --set cpu_reference=",
        ),
        ((), cut, "cpu_charges: cut off: the last charge is not whole; only a run that has ended has a whole recording"),
        (
            (),
            lambda folder: (folder / "cpu_charges").write_bytes(HEADER.replace(b"2", b"1")),
            "cpu_charges: not a recording of this version of simunix; expected it to begin with 'simunix charges 2'",
        ),
    ],
)
def test_a_recording_that_does_not_fit_is_refused_in_a_line(
    arguments: tuple[str, ...],
    spoil: Callable[[Path], None] | None,
    message: str,
    simunix: Simunix,
    cpu_limits: Path,
    recording: Path,
    tmp_path: Path,
) -> None:
    replayed, out = tmp_path / "recorded", tmp_path / "out"
    replayed.mkdir()
    for name in ("run.json", "cpu_charges"):
        shutil.copy(recording / "out" / name, replayed)
    if spoil is not None:
        spoil(replayed)
    shared = ("--set", f"shared=[{cpu_limits.parent}]")
    done = simunix("run", recording / "s.yaml", *shared, *arguments, "--replay-cpu", replayed, "--out", out)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert message in done.stderr and str(replayed) in done.stderr
    assert not out.exists()
