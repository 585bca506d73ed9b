"""`| head -1`: the reader of the output goes, and every subcommand ends quietly with the status of SIGPIPE, its work done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.starts import without_notices
from tests.system.tools.test_ends import LIMIT_S, environment, line, scenario

ROOT = Path(__file__).resolve().parents[3]
CONF = "ClusterName=c\nSlurmctldHost=a\nNodeName=n[1-2] CPUs=2\nPartitionName=p Nodes=ALL Default=YES\n"
UNREAD = 128 + signal.SIGPIPE
COMMANDS = {
    "run a scenario": ("run", "s.yaml", "--out", "new"),
    "run a command": ("run", "--", "seq", "100000"),
    "run a command for its end": ("run", "--out", "new", "--", "echo"),
    "sweep": ("sweep", "e.yaml", "--out", "swept"),
    "compare": ("compare", "s.yaml", "--set", "seed=2", "--out", "compared"),
    "check": ("check", "/bin/ls"),
    "check a scenario": ("check", "s.yaml"),
    "report": ("report", "out"),
    "why": ("report", "--why", "out", "out"),
    "trace": ("trace", "out", "-o", "trace.json"),
    "workload stats": ("workload", "stats", "t.csv"),
    "platform show": ("platform", "show", "s.yaml"),
    "platform convert": ("platform", "convert", "s.yaml", "p.xml"),
    "slurm": ("slurm", "import", "slurm.conf", "--out", "site"),
    "coverage": ("coverage",),
    "schema": ("schema",),
    "bench": ("bench", "--list"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, an experiment and a workload to tell of."""
    made = tmp_path_factory.mktemp("closed")
    scenario(made, "sleep 1")
    (made / "e.yaml").write_text(json.dumps({"scenario": "s.yaml", "repetitions": 1}))
    (made / "t.csv").write_text("JobID,Submit,Elapsed,AllocCPUS\n1,0,10,1\n2,5,10,2\n")
    (made / "slurm.conf").write_text(CONF)
    subprocess.run(line("run", "s.yaml", "--out", "out"), cwd=made, env=environment(), check=True, capture_output=True)
    return made


@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_has_gone(folder: Path, name: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen(
        line(*COMMANDS[name]), cwd=folder, env=environment(), stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    _, errors = process.communicate(timeout=LIMIT_S)
    shown = [each for each in errors.splitlines() if not each.startswith("simunix: warning")]
    assert "Traceback" not in errors and "Broken pipe" not in errors, errors
    assert process.returncode == UNREAD, (process.returncode, shown)


def test_the_results_of_a_run_are_whole(folder: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$@" | true', "bash", *line("run", "s.yaml", "--out", "piped")],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode in (0, UNREAD) and without_notices(done.stderr) == ""
    assert json.loads((folder / "piped" / "run.json").read_text())["ended"] == "done"
