"""ping: its times follow the modelled latency, and a host that is off, or beyond a cut, does not answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs, needs_root
from tests.system.runs import run_twice

pytestmark = [
    needs("ping"),
]
SCENARIO = """
name: pings
hosts: [{name: n1}, {name: n2}, {name: n3}, {name: s1, address: "fd00::1"}, {name: s2, address: "fd00::2"}]
network: {bandwidth: 1Gbps, latency: 2ms}
stop: processes
events:
  - {at: 30s, host: n2, state: off}
  - {at: 60s, between: [n1, n3], loss: 50%}
processes:
  - {name: near, host: n1, command: ping -c 3 n2}
  - {name: user, host: n1, start: 10s, user: nobody, command: ping -c 1 -s 4000 n2}
  - {name: itself, host: n1, command: ping -c 1 127.0.0.1}
  - {name: six, host: s1, command: ping -6 -c 1 s2}
  - {name: nowhere, host: n1, command: "ping -c 1 10.99.0.1 2>&1 || true"}
  - {name: dead, host: n1, start: 40s, command: "ping -c 2 -W 1 n2 || true"}
  - {name: lossy, host: n1, start: 70s, command: "ping -q -c 40 -i 0.2 n3"}
"""


def times(text: str) -> list[float]:
    """The round trips of an output, in milliseconds."""
    return [float(found) for found in re.findall(r"time=([\d.]+) ms", text)]


@needs_root("one of its users is nobody, whom an ordinary user's hosts do not have")
def test_times_follow_the_model_and_runs_are_equal(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO)
    ran, _ = run_twice(simunix, tmp_path / "s.yaml", tmp_path, timeout=60)
    written = {path.stem: path.read_text() for path in (ran.out / "hosts").glob("*/*.out")}
    assert times(written["near"]) == pytest.approx([8.0] * 3, abs=0.05)  # there and back over two links of 2 ms each
    assert times(written["user"]) == pytest.approx([8.1], abs=0.05)  # and 8 kB over 1 Gbit/s
    assert times(written["itself"])[0] < 0.1
    assert times(written["six"]) == pytest.approx([8.0], abs=0.02)
    assert "Network is unreachable" in written["nowhere"]
    assert "2 packets transmitted, 0 received, 100% packet loss" in written["dead"]
    lost = re.search(r"(\d+)% packet loss", written["lossy"])
    assert lost is not None and 50 < int(lost[1]) < 95  # request and answer are lost by half each
