"""A server with too few descriptors keeps the cold ones elsewhere, and nobody inside can tell."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

FEW = 70
FEW_DESCRIPTORS = f"""
import resource
import rsg_server.fd_store.store as fd_store
fd_store.RESERVE = resource.getrlimit(resource.RLIMIT_NOFILE)[1] - {FEW}
"""
RUN = "import sys\nfrom simunix.cli.main import main\nsys.exit(main(sys.argv[1:]))"
TALK = """
name: talk
stop: time
until: 100
hosts: [{name: 'h[1-8]'}]
processes:
  - {name: server, host: 'h[1-8]', command: [python3, -c, SERVER]}
  - {name: client, host: 'h[1-8]', start: 1s, command: [python3, -c, CLIENT]}
"""
SERVER = """
import socketserver
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line.upper())
class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
Server(("", 4000), Echo).serve_forever()
"""
CLIENT = """
import os, socket, time
files = [socket.create_connection((f"h{number}", 4000)).makefile("rw") for number in range(1, 9)]
for round in range(5):
    for file in files:
        print(f"{os.uname().nodename} {round}", file=file, flush=True)
    time.sleep(10)
    print(time.time(), [file.readline() for file in files], flush=True)
"""
SLURM = """
name: few
stop: time
until: 900
hosts:
  - {name: ctl, cores: 4}
  - {name: 'n[1-8]', cores: 2}
slurm: {controller: ctl, nodes: 'n[1-8]'}
processes:
  - {name: job, host: ctl, start: 20s, command: [srun, -N8, hostname]}
"""


def holders(folder: Path) -> list[str]:
    """Processes of those that were started in a folder; other tests have theirs."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"rsg_server.fd_store.holder" in (entry / "cmdline").read_bytes() and (entry / "cwd").readlink() == folder:
                found.append(entry.name)
    return found


def run(tmp_path: Path, name: str, scenario: str, before: str) -> dict[str, Any]:
    """Its run.json."""
    (tmp_path / "s.yaml").write_text(scenario)
    words = [sys.executable, "-c", before + RUN, "run", tmp_path / "s.yaml", "--set", "capacity=warn", "--out", tmp_path / name]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, check=False, env=environment, stdin=subprocess.DEVNULL, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / name / "run.json").read_text())  # type: ignore[no-any-return]


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["talk", pytest.param("slurm", marks=[pytest.mark.slurm])])
def test_few_descriptors_change_nothing(tmp_path: Path, scenario: str) -> None:
    talk = TALK.replace("SERVER", json.dumps(SERVER)).replace("CLIENT", json.dumps(CLIENT))
    text = talk if scenario == "talk" else SLURM
    many, few = run(tmp_path, "many", text, ""), run(tmp_path, "few", text, FEW_DESCRIPTORS)
    assert many["counts"]["stored_descriptors"] == 0
    assert few["counts"]["stored_descriptors"] > FEW
    assert few["events_sha256"] == many["events_sha256"]
    for file in (tmp_path / "many/hosts").rglob("*.out"):
        assert (tmp_path / "few/hosts" / file.relative_to(tmp_path / "many/hosts")).read_text() == file.read_text()
    assert not holders(tmp_path)
