"""Toy clients and servers in C and in Python: the same assertions natively and emulated."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from simunix.testing import Cluster, EmulatedProcess, Program
from tests.system.native import NativeCluster, NativeProcess

AnyCluster = Cluster | NativeCluster
AnyProcess = EmulatedProcess | NativeProcess
PROGRAMS = Path(__file__).parents[1] / "programs"


@pytest.fixture(params=[pytest.param("native", marks=pytest.mark.slow), "emulated"])
def cluster(request: pytest.FixtureRequest, emulation: Cluster, tmp_path: Path) -> AnyCluster:
    return emulation if request.param == "emulated" else NativeCluster(emulation, tmp_path)


def upper_server(address: str) -> None:
    """Answers lines in capitals; at SIGTERM says how many and ends."""
    answered = 0

    def leave(number: int, frame: object) -> None:
        print(f"answered {answered}", flush=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, leave)
    listener = socket.create_server((address, 7000))
    print("ready", flush=True)
    while True:
        peer, _ = listener.accept()
        with peer, peer.makefile("rw") as lines:
            for line in lines:
                lines.write(line.upper())
                lines.flush()
                answered += 1


def upper_client(address: str) -> None:
    """Sends its words, a line each, and says what comes back, or that the server is gone."""
    with connect_patiently(address) as peer, peer.makefile("rw") as lines:
        for word in sys.argv[1:]:
            if word.isdigit():
                time.sleep(int(word) / 1000)
                continue
            try:
                lines.write(word + "\n")
                lines.flush()
                answer = lines.readline()
            except OSError:
                answer = ""
            print(answer.strip() or "gone", flush=True)


def connect_patiently(address: str) -> socket.socket:
    """Natively the server may be late."""
    for _ in range(100):
        try:
            return socket.create_connection((address, 7000))
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise ConnectionRefusedError(address)


def signal_at(
    cluster: AnyCluster, moment: float, process: AnyProcess, number: signal.Signals, once: Callable[[], bool]
) -> None:
    """Send a signal at a moment when something must have happened: natively that is waited for, emulated it is sure."""

    def send() -> None:
        assert once()
        process.send_signal(number)

    if isinstance(cluster, NativeCluster):
        cluster.at(moment, send, once)
    else:
        cluster.at(moment, send)


def make(cluster: AnyCluster, language: str, role: str, address: str) -> tuple[Program, tuple[str, ...]]:
    """The program in C or in Python, and its first words."""
    if language == "c":
        return cluster.c(PROGRAMS / f"upper_{role}.c"), (address,)
    return cluster.python(upper_server if role == "server" else upper_client, address), ()


@pytest.mark.parametrize("server_language", ["c", "python"])
@pytest.mark.parametrize("client_language", ["c", "python"])
def test_answers_come_back(cluster: AnyCluster, client_language: str, server_language: str) -> None:
    near, far = cluster.host("near"), cluster.host("far")
    program, words = make(cluster, server_language, "server", far.address)
    far.start(program, *words, daemon=True)
    program, words = make(cluster, client_language, "client", far.address)
    clients = [near.start(program, *words, "hello", "100", f"number{number}", at=0.5) for number in range(2)]
    cluster.run(check=True)
    assert [client.stdout for client in clients] == ["HELLO\nNUMBER0\n", "HELLO\nNUMBER1\n"]


@pytest.mark.parametrize("server_language", ["c", "python"])
@pytest.mark.parametrize("client_language", ["c", "python"])
def test_client_notices_that_the_server_was_killed(cluster: AnyCluster, client_language: str, server_language: str) -> None:
    near, far = cluster.host("near"), cluster.host("far")
    program, words = make(cluster, server_language, "server", far.address)
    server = far.start(program, *words)
    program, words = make(cluster, client_language, "client", far.address)
    client = near.start(program, *words, "one", "1500", "two", at=0.5)
    signal_at(cluster, 0.8, server, signal.SIGKILL, once=lambda: client.stdout == "ONE\n")
    cluster.run()
    assert (server.exit_code, client.exit_code) == (-signal.SIGKILL, 0)
    assert client.stdout == "ONE\ngone\n"


@pytest.mark.parametrize("language", ["c", "python"])
def test_terminated_server_says_what_it_did(cluster: AnyCluster, language: str) -> None:
    near, far = cluster.host("near"), cluster.host("far")
    program, words = make(cluster, language, "server", far.address)
    server = far.start(program, *words)
    program, words = make(cluster, language, "client", far.address)
    client = near.start(program, *words, "a", "b", "c", at=0.5)
    signal_at(cluster, 1, server, signal.SIGTERM, once=lambda: client.stdout == "A\nB\nC\n")
    cluster.run(check=True)
    assert server.stdout == "ready\nanswered 3\n"


@pytest.mark.parametrize("language", ["c", "python"])
def test_stopped_server_keeps_its_client_waiting(cluster: AnyCluster, language: str) -> None:
    near, far = cluster.host("near"), cluster.host("far")
    program, words = make(cluster, language, "server", far.address)
    server = far.start(program, *words, daemon=True)
    program, words = make(cluster, language, "client", far.address)
    client = near.start(program, *words, "before", "500", "after", at=0.5)
    signal_at(cluster, 0.7, server, signal.SIGSTOP, once=lambda: client.stdout == "BEFORE\n")
    signal_at(cluster, 1.5, server, signal.SIGCONT, once=lambda: True)
    cluster.run(check=True)
    assert client.stdout == "BEFORE\nAFTER\n"
