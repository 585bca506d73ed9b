"""A due event does not end the turn of an actor at once: the actor may make some further calls."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Simunix

ROUNDS, SERVERS = 50, 8
MESSAGES = 2 * ROUNDS * SERVERS
SCENARIO = """
name: burst
stop: time
until: 100
network: {bandwidth: 10Gbps, latency: 1us}
hosts: [{name: 'h[1-9]'}]
processes:
  - {name: echo, host: 'h[2-9]', command: [python3, -c, SERVER]}
  - {name: client, host: h1, start: 1s, command: [python3, -c, CLIENT]}
"""
SERVER = """
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("", 4000))
while True:
    data, whence = server.recvfrom(100)
    server.sendto(data, whence)
"""
CLIENT = f"""
import socket, time
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for round in range({ROUNDS}):
    for number in range(2, 10):
        client.sendto(b"x", (f"10.0.0.{{number}}", 4000))
    print(sorted(client.recvfrom(100)[1][0] for _ in range({SERVERS})), flush=True)
    time.sleep(1)
"""


def test_a_burst_is_sent_in_one_turn(simunix: Simunix, tmp_path: Path) -> None:
    """The first message arrives before the third has been sent; each used to cost the sender its turn."""
    text = SCENARIO.replace("SERVER", json.dumps(SERVER)).replace("CLIENT", json.dumps(CLIENT))
    (tmp_path / "burst.yaml").write_text(text)
    out = tmp_path / "out"
    done = simunix("run", tmp_path / "burst.yaml", "--out", out)
    assert done.returncode == 0, done.stderr
    everybody = [f"10.0.0.{number}" for number in range(2, 10)]
    assert (out / "hosts/h1/client.out").read_text().splitlines() == [str(everybody)] * ROUNDS
    assert json.loads((out / "run.json").read_text())["turns"] < 1.25 * MESSAGES
