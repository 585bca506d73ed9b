"""Real wakeonlan boots hosts of an emulation that have been shut down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs
from tests.system.runs import run

SCENARIO = """
name: wake
hosts: [{name: admin}, {name: 'n[1-2]', boot_time: 30s}]
processes:
  - {name: work, host: 'n[1-2]', command: sleep 5}
  - {name: admin, host: admin, start: 10s, command: [/bin/bash, FOLDER/admin.sh]}
events:
  - {at: 7, host: 'n[1-2]', state: shutdown}
"""
ADMIN = """
wakeonlan 02:42:0a:00:00:02
sleep 5
wakeonlan -i 10.0.0.3 -p 7 02:42:0a:00:00:03
sleep 60
"""


@pytest.mark.slow
@needs("wakeonlan")
def test_wakeonlan_boots_hosts_that_were_shut_down(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "admin.sh").write_text(ADMIN)
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("FOLDER", str(tmp_path)))
    done = run(simunix, tmp_path / "s.yaml", tmp_path / "out")
    events = [event for event in map(json.loads, done.events) if event["event"] in ("wake_on_lan", "host_on")]
    assert [(event["event"], event["host"], round(event["t"] / 1e9, 1)) for event in events] == [
        ("wake_on_lan", "n1", 10.0),
        ("wake_on_lan", "n2", 15.0),
        ("host_on", "n1", 40.0),
        ("host_on", "n2", 45.0),
    ]
