"""Remote SimGrid's commands: a server, actors that are added to it, and its start."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rsg_server.errors import SimunixError
from simunix.app.join import ask
from tests import starts
from tests.conftest import ROOT
from tests.system.rsg.running import HERE

PLATFORM = HERE / "families/platform.xml"
DATE = "0.825392768"
"""When 100 MB have come over the link of the platform, by SimGrid 3.32."""


class Server:
    """A server of a test, with a folder of ports that no other test has, and the commands that speak to it."""

    def __init__(self, folder: Path) -> None:
        self.environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
        self.folder = folder
        self._process: subprocess.Popen[str] | None = None

    def serve(self, *options: object) -> None:
        """Start a server, and wait until it listens."""
        log = (self.folder / "serve.err").open("w")
        with log:
            self._process = starts.start(
                *("rsg", "serve", PLATFORM, *options),
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        assert self("status", "--retry-timeout", "60000")[0] == 0

    def __call__(self, *words: object) -> tuple[int, str]:
        """A command: its exit code, and all that it prints."""
        done = starts.run("rsg", *words, env=self.environment, cwd=self.folder)
        return done.returncode, done.stdout + done.stderr

    def add(self, name: str, host: str, *command: object, options: tuple[object, ...] = ()) -> tuple[int, str]:
        """Add an actor that is a program of the tests; its output goes to a file of its name."""
        log = self.folder / f"{name}.err"
        with (self.folder / f"{name}.out").open("w") as out, log.open("w") as err:
            done = starts.run(
                *("rsg", "add-actor", *options, name, host, "--", sys.executable, *command),
                env=self.environment,
                cwd=self.folder,
                capture_output=False,
                stdout=out,
                stderr=err,
            )
        return done.returncode, log.read_text()

    def said(self, name: str) -> str:
        """What the program of an actor has printed."""
        return (self.folder / f"{name}.out").read_text()

    def status(self) -> dict[str, Any]:
        """The state of the server."""
        found: dict[str, Any] = json.loads(self("status")[1])
        return found

    def end(self) -> tuple[int, str]:
        """Wait for the end of the server: its exit code and what it has said."""
        assert self._process is not None
        code = self._process.wait(60)
        self._process = None
        return code, (self.folder / "serve.err").read_text()

    def signal(self, number: int) -> None:
        """Send a signal to the server."""
        assert self._process is not None
        os.kill(self._process.pid, number)

    def close(self) -> None:
        """End a server that has not ended."""
        if self._process is not None:
            self.signal(signal.SIGTERM)
            self._process.wait(60)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    yield made
    made.close()


def leftovers(folder: Path) -> list[str]:
    """What a server leaves in the folder for temporary files."""
    return [path.name for path in folder.iterdir() if path.name.startswith("simunix-")]


def test_actors_of_several_programs_meet(server: Server) -> None:
    server.serve()
    assert server.status()["state"] == "ACCEPTING_NEW_ACTORS"
    assert server.add("alice", "alice", HERE / "programs/alice.py", "box") == (0, "")
    assert server.add("bob", "carol", HERE / "programs/bob.py", "box", 3) == (0, "")
    told = server.status()
    assert [(one["pid"], one["name"], one["host"], one["state"]) for one in told["actors"]] == [
        (1, "alice", "alice", "added"),
        (2, "bob", "carol", "added"),
    ]
    assert told["virtual_s"] == 0
    assert server("start") == (0, "")
    code, said = server.end()
    assert code == 0 and "actor bob(2)@carol: " in said and "ended with exit code 3" in said
    assert server.said("alice") == f"alice 1 on alice has sent at {DATE}\n"
    assert server.said("bob") == f"bob 2 on carol has 1 at {DATE}\n"
    assert leftovers(server.folder) == []


def test_the_log_depends_on_the_order_of_the_commands_alone(server: Server) -> None:
    digests = set()
    for turn in ("one", "other"):
        server.serve("--out", server.folder / turn)
        server.add("alice", "alice", HERE / "programs/alice.py", "box")
        time.sleep(0.3 if turn == "one" else 0)
        server.add("bob", "carol", HERE / "programs/bob.py", "box")
        server("start")
        assert server.end()[0] == 0
        found = json.loads((server.folder / turn / "run.json").read_text())
        assert found["ended"] == "done" and found["deterministic"]
        digests.add(found["events_sha256"])
    assert len(digests) == 1


def test_what_cannot_be_is_told_in_one_line(server: Server) -> None:
    nobody = (2, "simunix: no server at port 35000; start one with simunix rsg serve PLATFORM --port 35000\n")
    assert server("status") == server("start") == server("kill") == nobody
    assert server("status", "--port", "0")[1] == "simunix: --port: expected a number from 1 to 65535, got '0'\n"
    assert server("status", "--hostname", "far.away")[1].startswith(
        "simunix: --hostname far.away: a server can only be on this computer"
    )
    server.serve()
    assert server("serve", PLATFORM)[1].startswith("simunix: --port 35000: a server has this port already; ")
    assert server("start")[1].startswith("simunix: no actor has been added; ")
    assert server.add("alice", "mars", HERE / "programs/alice.py") == (
        2,
        "simunix: host 'mars': the platform has no such host; known: alice, bob, carol\n",
    )
    assert server("add-actor", "lost", "alice", "--", "/no/such/program")[1].count("\n") == 1
    assert server("add-actor", "", "alice", "--", "true")[1].startswith("simunix: actor name: expected 1 to 255 bytes")
    assert "no virtual time in simunix" in server("add-actor", "--think-time=CONST", "x", "alice", "--", "true")[1]
    assert server.add("alice", "alice", HERE / "programs/alice.py", "box")[0] == 0
    assert "alice: the name is taken by alice(" in server.add("alice", "bob", HERE / "programs/alice.py")[1]
    assert server("start")[0] == 0


def test_a_deadlock_ends_the_server_with_a_report(server: Server) -> None:
    server.serve()
    server.add("alice", "alice", HERE / "programs/alice.py", "box")
    server("start")
    code, said = server.end()
    assert code == 3 and "a get from mailbox box, which 1e+08 bytes wait for (actor alice(1)@alice)" in said


def test_what_comes_after_the_start_is_refused(server: Server) -> None:
    server.serve("--out", server.folder / "out")
    server.add("alice", "alice", "-c", "import time; [time.sleep(1e-6) for _ in range(10**9)]")
    assert server("start") == (0, "")
    assert server("start") == (2, "simunix: the simulation has started already\n")
    assert server("add-actor", "late", "bob", "--", "true")[1].startswith("simunix: actor late: the simulation has started; ")
    assert server.status()["state"] == "WAITING_FOR_ALL_ACTORS_CONNECTION"
    assert server("kill")[0] == 0
    assert server.end()[0] == 0
    assert json.loads((server.folder / "out/run.json").read_text())["disturbances"] == ["the run was ended by hand"]


def test_a_program_that_never_becomes_its_actor_holds_nobody_up(server: Server) -> None:
    server.serve()
    server.add("nobody", "bob", "-c", "pass")
    server.add("alice", "alice", HERE / "programs/alice.py", "box")
    server.add("bob", "carol", HERE / "programs/bob.py", "box")
    server("start")
    assert server.end()[0] == 0
    assert server.said("bob") == f"bob 3 on carol has 2 at {DATE}\n"


def test_kill_ends_server_and_programs(server: Server) -> None:
    server.environment["RSG_SERVER_PORT"] = "4711"
    server.serve()
    server.add("sleeper", "alice", "-c", "import time; time.sleep(1)")
    assert server("kill", "--reason", "enough") == (0, "")
    code, said = server.end()
    assert code == 0 and "killed at 0.000000 s: enough" in said
    assert leftovers(server.folder) == []
    assert server("status")[1].startswith("simunix: no server at port 4711; ")


def test_an_interrupt_leaves_nothing_behind(server: Server) -> None:
    server.serve()
    server.add("sleeper", "alice", "-c", "import time; time.sleep(1)")
    server.signal(signal.SIGINT)
    assert server.end()[0] == 130
    assert leftovers(server.folder) == []


def test_no_fork_stays_until_the_program_ends(server: Server) -> None:
    server.serve()
    command = ("rsg", "add-actor", "--no-fork", "bob", "carol", "--", sys.executable, HERE / "programs/bob.py", "box", "3")
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    bob = starts.start(*command, env=server.environment, cwd=server.folder, **streams)
    while not server.status()["actors"]:
        time.sleep(0.02)
    server.add("alice", "alice", HERE / "programs/alice.py", "box")
    server("start")
    assert bob.communicate(timeout=60) == (f"bob 1 on carol has 2 at {DATE}\n", "")
    assert bob.returncode == 3
    assert server.end()[0] == 0


def test_an_actor_ends_with_the_command_that_waits_for_it(server: Server) -> None:
    server.serve()
    command = ("rsg", "add-actor", "--no-fork", "bob", "carol", "--", sys.executable, HERE / "programs/bob.py", "box")
    bob = starts.start(*command, env=server.environment, cwd=server.folder, stdin=subprocess.DEVNULL)
    while not server.status()["actors"]:
        time.sleep(0.02)
    os.kill(bob.pid, signal.SIGKILL)
    bob.wait(60)
    while server.status()["actors"][0]["state"] != "ended":
        time.sleep(0.02)
    assert server("kill")[0] == 0
    assert server.end()[0] == 0


def test_other_emulations_take_no_actors(server: Server, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("run", "--out", out, "--pace", "1", "--", "sleep", "1e6")
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = starts.start(*command, env=server.environment, cwd=tmp_path, **streams)
    try:
        while not (out / "control.sock").exists():
            time.sleep(0.02)
        with pytest.raises(
            SimunixError, match="no actors can be added to this run; start a server for actors: simunix rsg serve PLATFORM"
        ):
            ask(out, {"op": "rsg start"})
    finally:
        running.terminate()
        running.wait(60)


def test_flags_name_what_is_there(server: Server) -> None:
    code, told = server("flags")
    words = shlex.split(told)
    assert code == 0 and "-lrsg" in words
    (include,) = (Path(word[2:]) for word in words if word.startswith("-I"))
    (library,) = (Path(word[2:]) for word in words if word.startswith("-L"))
    assert {"rsg.h", "rsg.hpp", "librsg.hpp", "rsg_protocol.h"} <= {path.name for path in include.iterdir()}
    assert (library / "librsg.so").exists()
    assert shlex.split(server("flags", "--cflags")[1]) + shlex.split(server("flags", "--libs")[1]) == words
