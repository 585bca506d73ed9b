"""Where namespaces cannot be had, hosts still have their names and addresses, and everything ends with the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT, processes_named

WITHOUT_NAMESPACES = """
import sys
from simunix.launch import emulation
from simunix.launch.container import Isolation
emulation.probe = lambda: (Isolation.NONE, "no namespaces here")
from simunix.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
SCENARIO = """
name: bare
hosts: [{name: 'a[1-2]'}]
stop: time
until: 20s
processes:
  - {name: p, host: 'a[1-2]', command: 'uname -n; (setsid sleep MARK &) ; sleep 5; date +%s'}
"""


def test_without_namespaces(tmp_path: Path) -> None:
    mark = f"97{os.getpid()}"
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("MARK", mark))
    command = [sys.executable, "-c", WITHOUT_NAMESPACES, "run", str(tmp_path / "s.yaml"), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert "no namespaces here" in done.stderr
    for host in ("a1", "a2"):
        assert (tmp_path / f"out/hosts/{host}/p.out").read_text() == f"{host}\n946684805\n"
    assert not processes_named(f"sleep {mark}")
