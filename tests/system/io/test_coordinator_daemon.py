"""The coordinator's daemon without emulation: it is an ordinary program, and so are its clients in C and Python."""

from __future__ import annotations

import csv
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from simunix.io_coordinator.client import Coordinated
from simunix.io_coordinator.wire import WireError
from tests.conftest import ROOT
from tests.system.io.runs import compiled

LIMIT_S = 20.0


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Where a coordinator listens: FIFO, and a bandwidth for the group `slow`."""
    path = tmp_path / "socket"
    command = [sys.executable, "-m", "simunix.io_coordinator", "--listen", f"unix:{path}", "--rate", "slow=1000"]
    with subprocess.Popen([*command, "--log", tmp_path / "log"], cwd=ROOT, stderr=subprocess.PIPE, text=True) as daemon:
        try:
            with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as trial:
                while trial.connect_ex(str(path)) and daemon.poll() is None:
                    continue
            yield f"unix:{path}"
        finally:
            daemon.kill()


class Raw:
    """A connection on which a test says what it wants to."""

    def __init__(self, address: str) -> None:
        self.stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.stream.settimeout(LIMIT_S)
        self.stream.connect(address.removeprefix("unix:"))

    def say(self, text: str) -> Raw:
        """Send messages."""
        self.stream.sendall(text.encode())
        return self

    def hear(self) -> str:
        """Return what the coordinator says next, or nothing when it has closed the connection."""
        return self.stream.recv(4096).decode()

    def hears_nothing(self) -> bool:
        """Whether the coordinator says nothing for a moment, in which it has answered others."""
        self.stream.settimeout(0.05)
        with pytest.raises(TimeoutError):
            self.stream.recv(1)
        self.stream.settimeout(LIMIT_S)
        return True


def test_one_after_the_other_and_an_end_releases(address: str, tmp_path: Path) -> None:
    with closing(Raw(address).stream), closing(Coordinated(address, 1)) as first:
        with first.phase(100):
            second, third = (Raw(address).say(f"REGISTER {number} 0 -\nREQUEST 10 0\n") for number in (2, 3))
            assert second.hears_nothing()
            assert third.hears_nothing()
        assert second.hear() == "GRANT 0\n"
        second.stream.close()  # in the middle of its phase
        assert third.hear() == "GRANT 0\n"
        third.say("RELEASE\nREQUEST 1 0\n")
        assert third.hear() == "GRANT 0\n"
        third.stream.close()
    rows = list(csv.DictReader((tmp_path / "log").read_text().splitlines()))
    assert [(row["application"], row["group"], row["bytes"]) for row in rows] == [("1", "-", "100"), ("3", "-", "10")]
    assert all(float(row["requested"]) <= float(row["granted"]) <= float(row["released"]) for row in rows)


def test_a_group_has_its_own_disk_and_rate(address: str) -> None:
    with closing(Coordinated(address, 1)) as first, first.phase(100):
        other = Raw(address).say("REGISTER 2 0 slow\nREQUEST 10 0\n")
        assert other.hear() == "GRANT 1000\n"
        other.stream.close()


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ("REQUEST 1 0\n", "ERROR REQUEST before REGISTER"),
        ("REGISTER 1 0\n", "ERROR REGISTER: expected once"),
        ("REGISTER x 0 -\n", "ERROR REGISTER: expected 2 whole numbers, got 'x 0'"),
        ("REGISTER 7 0 -\nRELEASE\n", "ERROR application 7 has no grant to release"),
        ("REGISTER 7 0 -\nHELLO\n", "ERROR HELLO: expected REGISTER, REQUEST or RELEASE"),
        ("REGISTER 7 0 -\nREQUEST 1\n", "ERROR REQUEST: expected 2 whole numbers, got '1'"),
        ("x" * 300, "ERROR a message of more than 200 bytes"),
        ("\n", "ERROR an empty message"),
    ],
)
def test_who_says_nonsense_is_cut_off_alone(address: str, messages: str, error: str) -> None:
    good = Raw(address).say("REGISTER 1 0 -\nREQUEST 10 0\n")
    assert good.hear() == "GRANT 0\n"
    bad = Raw(address).say(messages)
    assert bad.hear().startswith(error)
    good.say("RELEASE\nREQUEST 10 0\n")
    assert good.hear() == "GRANT 0\n"
    for each in (good, bad):
        each.stream.close()


def test_the_client_says_what_the_coordinator_holds_against_it(address: str) -> None:
    with closing(Coordinated(address, 1)) as first, closing(Coordinated(address, 1)) as second:
        with first.phase(1):
            pass
        with pytest.raises((WireError, ConnectionError)), second.phase(1):
            pass


def test_an_application_in_c(address: str, tmp_path: Path) -> None:
    phases = tmp_path / "phases"
    phases.write_text("1000 100 0\n0 0 0\n0 200 0\n")
    command = [compiled(tmp_path), "5", "0", tmp_path / "data", address, phases]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stdout.split()[:1]) == (0, ["5"]), done.stderr
    assert (tmp_path / "data").stat().st_size == 200
    with closing(Coordinated(address, 6)) as other, other.phase(1):  # granted after all that came before
        pass
    rows = list(csv.DictReader((tmp_path / "log").read_text().splitlines()))
    found = [(row["application"], row["bytes"]) for row in rows]
    assert found[:2] == [("5", "100"), ("5", "200")]
    assert found[2:] in ([], [("6", "1")])  # the coordinator may have written the phase of application 6 already


def test_a_coordinator_that_cannot_be(tmp_path: Path) -> None:
    for words, error in (
        (["--listen", "nowhere"], "io_coordinator: address 'nowhere': expected HOST:PORT or unix:PATH"),
        (["--rate", "a=0"], "io_coordinator: --rate a=0: expected GROUP=BYTES_PER_SECOND"),
        (["--listen", f"unix:{tmp_path}/none/socket"], "io_coordinator: [Errno 2] No such file or directory"),
        (["--policy", "none"], "invalid choice: 'none'"),
    ):
        command = [sys.executable, "-m", "simunix.io_coordinator", *words]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 2 and error in done.stderr, done.stderr
