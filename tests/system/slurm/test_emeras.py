"""Emeras's hour (docs/studies/emeras.md), shortened: five minutes of eight nodes with their context, twice the same."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from simunix.cli.main import main
from simunix.metrics.jobs import read_jobs_csv, replayed
from simunix.metrics.replay import steady_state
from simunix.workload.formats import provenance
from simunix.workload.formats.by_name import read_trace
from tests.conftest import ROOT, Simunix

T0_S, WINDOW_S, CORES = 70.0, 300.0, 128
SCENARIO = ROOT / "scenarios/emeras.yaml"
DAY = ["--nodes", "8", "--cores", "16", "--duration", "3h", "--seed", "2"]
WINDOW = ["--begin", "90min", "--end", "95min", "--context"]


def shortened(folder: Path) -> Path:
    """The scenario as it is, but for its size, its trace and its end."""
    generate = ["workload", "generate", "curie", *DAY, "-o", str(folder / "day.swf")]
    cut = ["workload", "cut", str(folder / "day.swf"), str(folder / "window.swf"), *WINDOW]
    assert main(generate) == main(cut) == 0
    text = SCENARIO.read_text()
    end = f"start: {T0_S + WINDOW_S:g}s"
    changes = {"node[01-32]": "node[1-8]", "traces/emeras-hour.swf": "window.swf", "start: 3670s": end}
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "emeras.yaml").write_text(text)
    return folder / "emeras.yaml"


@pytest.mark.slurm
@pytest.mark.slow
def test_a_context_an_overload_and_the_same_twice(simunix: Simunix, tmp_path: Path) -> None:
    scenario = shortened(tmp_path)
    digests = []
    for out in (tmp_path / "first", tmp_path / "second"):
        done = simunix("run", scenario, "--out", out, "--set", "slurm.parameters.PriorityFavorSmall=true", timeout=120)
        assert done.returncode == 0, done.stderr
        assert "INVALID" not in done.stdout
        record = json.loads((out / "run.json").read_text())
        assert record["valid"] and record["deterministic"]
        assert record["contexts"][0]["t0_s"] == T0_S
        assert "PriorityFavorSmall=YES" in (out / "hosts/controller/files/etc_slurm/slurm.conf").read_text()
        digests.append(record["events_sha256"])
    assert digests[0] == digests[1]
    with (out / "jobs.csv").open() as file:
        states = {int(row["job_id"]): row["final_state"] for row in csv.DictReader(file)}
    assert states.keys() == set(read_trace(tmp_path / "window.swf").jobs["job"])  # every job is accounted for
    assert set(states.values()) <= {"COMPLETED", "CANCELLED"}
    jobs = read_jobs_csv(out / "jobs.csv")
    found = steady_state(jobs, replayed(jobs, out), T0_S, T0_S + WINDOW_S, CORES)
    assert 0 < found["completed"] < found["launched"] <= 1
    assert 0.5 < found["utilisation"] <= 1


def test_shipped_traces_are_those_that_their_headers_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of the header give the same bytes, where simunix calls itself by the release that the header names."""
    monkeypatch.chdir(tmp_path)
    for name in ("emeras-hour.swf", "emeras-hour-alone.swf"):
        shipped = ROOT / "scenarios/traces" / name
        notes = [line.partition("Note: made by: simunix ")[2] for line in read_trace(shipped).comments]
        for release, _, command in (note.partition(": simunix ") for note in notes if note):
            monkeypatch.setattr(provenance, "__version__", release)
            assert main(command.split()) == 0
        assert (tmp_path / name).read_bytes() == shipped.read_bytes()
