"""`simunix run --log-messages` of a real Slurm: the names of its messages, with virtual times, and nothing else changes."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.conftest import Simunix

pytestmark = pytest.mark.slurm

SCENARIO = """
name: messages
hosts:
  - {name: ctl, cores: 4}
  - {name: 'n[1-2]', cores: 2}
slurm: {controller: ctl, nodes: 'n[1-2]'}
processes:
  - {name: user, host: ctl, start: 10s, command: "sbatch -o /dev/null -N2 --wrap 'srun hostname'; sleep 20"}
stop: [user]
"""


def messages(out: Path) -> list[dict[str, str]]:
    with (out / "host_messages.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_submission_is_a_request_and_its_answer(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO)
    for out, options in (("with", ["--log-messages"]), ("again", ["--log-messages"]), ("without", [])):
        done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / out, *options, timeout=100)
        assert done.returncode == 0, done.stderr
    rows = messages(tmp_path / "with")
    (asked,) = [row for row in rows if row["message"] == "REQUEST_SUBMIT_BATCH_JOB"]
    (answered,) = [row for row in rows if row["message"] == "RESPONSE_SUBMIT_BATCH_JOB"]
    assert (asked["from_program"], asked["to_program"], asked["to_port"]) == ("sbatch", "slurmctld", "6817")
    assert (answered["from_program"], answered["to_program"]) == ("slurmctld", "sbatch")
    assert 10 < float(asked["sent"]) < float(asked["arrived"]) <= float(answered["sent"]) < float(answered["arrived"]) < 10.1
    found = {(row["from"], row["to"], row["message"]) for row in rows}
    assert ("n1", "ctl", "MESSAGE_NODE_REGISTRATION_STATUS") in found
    assert ("ctl", "n1", "REQUEST_BATCH_JOB_LAUNCH") in found
    assert {("ctl", f"n{number}", "REQUEST_TERMINATE_JOB") for number in (1, 2)} <= found
    assert sorted(rows, key=lambda row: float(row["arrived"])) == rows
    without_name = {(row["from_program"], row["to_program"]) for row in rows if not row["message"]}
    assert without_name <= {("slurmstepd", "srun"), ("srun", "slurmstepd")}, "only the output of the step"
    assert (tmp_path / "with/host_messages.csv").read_bytes() == (tmp_path / "again/host_messages.csv").read_bytes()
    assert not (tmp_path / "without/host_messages.csv").exists()
    assert (tmp_path / "with/events.jsonl").read_bytes() == (tmp_path / "without/events.jsonl").read_bytes()
