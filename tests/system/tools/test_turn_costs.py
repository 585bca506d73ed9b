"""`simunix run --turn-costs` measures every turn and changes nothing of what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix_bench.parallel.critical_path import causal, conservative, total, windowed
from simunix_bench.parallel.runs import read
from tests.conftest import Simunix

SCENARIO = """
name: talk
until: 4s
hosts: [{name: 'n[1-2]'}]
processes:
  - {name: server, host: n2, command: [python3, -m, http.server, '80', --directory, /usr/share/python3]}
  - name: client
    host: n1
    command: while sleep 1; do python3 -c "import urllib.request as u; u.urlopen('http://n2/')"; done
"""


@pytest.mark.slow
def test_measuring_turns_changes_no_event(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "talk.yaml").write_text(SCENARIO)
    for name, option in (("plain", ()), ("measured", ("--turn-costs",))):
        done = simunix("run", tmp_path / "talk.yaml", "--out", tmp_path / name, *option)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "plain/events.jsonl").read_bytes() == (tmp_path / "measured/events.jsonl").read_bytes()
    found = read(tmp_path / "measured", "talk", "talk")
    assert {turn.host for turn in found.turns} == {"n1", "n2"} and found.server_ns > 0
    latency_ns = min(message.arrived_ns - message.sent_ns for message in found.messages)
    path = windowed(found.turns, latency_ns).critical_ns
    assert causal(found.turns, found.messages) <= conservative(found.turns, latency_ns) <= path < total(found.turns)


def test_a_single_command_has_no_hosts_that_could_overlap(simunix: Simunix) -> None:
    done = simunix("run", "--turn-costs", "--", "true")
    assert done.returncode == 2 and "--turn-costs: a single command has no network" in done.stderr
