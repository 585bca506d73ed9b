"""The start of simunix loads few modules: a small command does not wait for modules that only scenarios, reports or
other commands need.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from rsg_server.edge.service import HEAD_START_S
from simunix.cli.main import COMMANDS, MODULES

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from simunix.cli.main import main
try:
    main(sys.argv[1:])
finally:
    print(*sys.modules, file=sys.stderr)
"""
OTHERS = {"pydantic", "yaml", "rich", "elftools", "networkx", "matplotlib", "distributed", "dpkt", "psutil", "pandas", "scipy"}
OTHERS |= {"numpy", "jinja2", "simunix.scenario", "simunix.planning", "simunix.report", "simunix.results.run_json"}
OTHERS |= {"rsg_server.capture.capture", "rsg_server.network.usage", "simunix.coverage"}
OTHERS |= {"trio", "rsg_server.edge.control", "attr", "asyncio", "ssl", "logging", "platform", "simunix.launch.debug.gdb"}
OTHERS |= {"rsg_server.devices.ebpf.verifier", "hashlib"}
SERVER = {"trio", "msgpack", "cffi", "rsg_server.kernel", "simunix.launch", "simunix.app.join"}


def loaded_by(*arguments: str) -> set[str]:
    """The modules that are there when simunix has done this."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return set(done.stderr.splitlines()[-1].split())


def test_a_command_loads_the_server_and_nothing_of_scenarios() -> None:
    loaded = loaded_by("run", "--", "true")
    assert "rsg_server.kernel" in loaded
    assert not OTHERS & loaded
    assert not {f"simunix.cli.{MODULES.get(command, command)}" for command in COMMANDS if command != "run"} & loaded


def test_a_command_that_waits_for_input_has_trio_wait() -> None:
    """The head start of a run is over as soon as something that is not virtual has to be waited for."""
    command = [sys.executable, "-c", PROGRAM, "run", "--", "sh", "-c", "echo ready; head -n1"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        time.sleep(2 * HEAD_START_S)  # nothing but the input makes the command go on
        out, err = running.communicate(b"typed\n")
    assert out == b"typed\n"
    assert {"trio", "rsg_server.edge.control"} <= set(err.decode().splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["nothing"], *([command, "--help"] for command in COMMANDS)])
def test_help_loads_neither_the_server_nor_libraries(arguments: list[str]) -> None:
    assert not (OTHERS | SERVER) & loaded_by(*arguments)
