"""Processes of the factory that somebody stops (SIGSTOP): whoever else is killed then, none of them stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from simunix.launch.factory.container import Isolation
from tests.processes import Brood, children, name_of
from tests.system.hosts.test_factory import kind

__all__ = ["kind"]

OWNER = """
import sys
from tests.system.hosts.test_factory import HostFactory, Isolation, host, spawn
factory = HostFactory()
first = host(factory, Isolation(sys.argv[1]))
spawn(first, "sleep", "1000")
print(flush=True)
if sys.stdin.readline():
    first.close()
sys.stdin.readline()
"""
CASES = [
    ("broker", "owner"),
    ("fork server", "broker"),
    pytest.param("fork server", "owner", marks=pytest.mark.slow),
    pytest.param("init", "owner", marks=pytest.mark.slow),
    pytest.param("init", "fork server", marks=pytest.mark.slow),
]


def start(kind: Isolation) -> tuple[subprocess.Popen[bytes], dict[str, int]]:
    """A process that has a factory and a host with a program; and which process is which."""
    owner = subprocess.Popen([sys.executable, "-c", OWNER, kind.value], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert owner.stdout is not None and owner.stdout.readline() == b"\n"
    (broker,) = children(owner.pid)
    (fork_server,) = children(broker)
    (init,) = children(fork_server)
    return owner, {"owner": owner.pid, "broker": broker, "fork server": fork_server, "init": init}


@pytest.mark.slow
@pytest.mark.parametrize(("stopped", "killed"), CASES)
def test_nothing_is_left_of_what_was_stopped(kind: Isolation, stopped: str, killed: str) -> None:
    with Brood.kept() as brood:
        owner, places = start(kind)
        os.kill(places[stopped], signal.SIGSTOP)
        os.kill(places[killed], signal.SIGKILL)
        left = [name_of(pid) for pid in brood.left(5.0, aside=owner.pid)]
    owner.communicate()
    assert not left


@pytest.mark.slow
def test_a_host_that_is_stopped_when_its_end_is_awaited_holds_up_nobody(kind: Isolation) -> None:
    """Neither its owner, nor, once that is killed, the process that awaits it."""
    with Brood.kept() as brood:
        owner, places = start(kind)
        os.kill(places["init"], signal.SIGSTOP)
        assert owner.stdin is not None
        owner.stdin.write(b"close\n")
        owner.stdin.flush()
        time.sleep(0.3)
        os.kill(places["owner"], signal.SIGKILL)
        left = [name_of(pid) for pid in brood.left(5.0, aside=owner.pid)]
    owner.communicate()
    assert not left
