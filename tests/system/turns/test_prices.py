"""The prices of calls in virtual time: they are small, until a thread makes one call after the other without ever waiting."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Simunix

MEASURE = """
import ctypes, os, time
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + 4 * [ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
def child():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
def page():
    libc.munmap(libc.mmap(None, 4096, 3, 0x22, -1, 0), 4096)
def each_us(call, count):
    begin = time.monotonic()
    for _ in range(count):
        call()
    return (time.monotonic() - begin) / count * 1e6
"""


def measured(simunix: Simunix, script: str, measure: str = MEASURE) -> list[float]:
    done = simunix("run", "--", "python3", "-c", measure + script)
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def test_a_loop_of_calls_costs_what_it_costs_natively(simunix: Simunix) -> None:
    """Two calls that cost 0.2 µs each at first, and some 10 µs natively: an endless loop of them was slower than real time."""
    first, later = measured(simunix, "print(each_us(page, 1000)); each_us(page, 10_000); print(each_us(page, 1000))")
    assert 0.4 <= first < 1
    assert 10 <= later < 11


FORKS_IN_HASTE = """
print(each_us(child, 90)); each_us(child, 20)
print(each_us(child, 80)); each_us(child, 30)
print(each_us(child, 20)); time.sleep(1)
print(each_us(child, 90))
"""


@pytest.mark.slow
def test_a_loop_of_forks_costs_what_it_costs_natively_then_what_it_costs_here(simunix: Simunix) -> None:
    """A sleep in between shows that the thread is no loop, but a daemon that starts programs."""
    first, natively, here, slept = measured(simunix, FORKS_IN_HASTE)
    assert first < 20 and slept < 20
    assert 150 <= natively < 170
    assert 1000 <= here < 1020


@pytest.mark.slow
def test_a_fork_whose_child_takes_its_time_costs_something_after_a_thousand(simunix: Simunix) -> None:
    """The maker never sleeps, but it comes in no haste either: it is a loop only in the long run."""
    script = (
        "print(each_us(child, 900)); each_us(child, 150); print(each_us(child, 20)); time.sleep(1); print(each_us(child, 100))"
    )
    slow_child = "time.sleep(0.0002)\n        os._exit(0)"
    first, later, slept = measured(simunix, script, MEASURE.replace("os._exit(0)", slow_child))
    assert 200 <= first < 220 and 200 <= slept < 220
    assert 350 <= later < 370


@pytest.mark.slow
def test_a_million_calls_without_a_wait_are_a_loop_in_which_each_costs_what_it_costs_here(simunix: Simunix) -> None:
    """A shell's `until [ -e FILE ]; do :; done` was slower than real time."""
    script = "print(each_us(libc.getppid, 30_000)); print(each_us(libc.getppid, 1000)); each_us(libc.getppid, 10**6)"
    first, later, last = measured(simunix, f"{script}; print(each_us(libc.getppid, 1000))")
    assert first < 2 <= later < 2.1 and 3 <= last < 3.1


def test_a_lone_yield_costs_a_microsecond_however_often_it_comes(simunix: Simunix) -> None:
    first, later = measured(simunix, "print(each_us(os.sched_yield, 1000)); print(each_us(os.sched_yield, 100_000))")
    assert 1 <= first < 1.5 and 1 <= later < 1.5


PEERS = """
name: peers
hosts: [{name: 'a,b,c,d'}]
network: {bandwidth: 1Gbps, latency: 50us}
stop: client
processes:
  - {name: server, host: a, command: [python3, -c, SERVER]}
  - {name: client, host: b, start: 1s, command: [python3, -c, CLIENT]}
"""
OTHERS = "  - {name: other, host: 'c,d', command: [python3, -c, OTHER]}\n"
POLLS = """
import select, socket, time
def receive(peer):
    poll = select.poll()
    poll.register(peer, select.POLLIN)
    while not poll.poll(0):
        pass
    return peer.recv(1)
"""
SERVER = """
server = socket.create_server(("", 7000))
peer = server.accept()[0]
peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
while receive(peer):
    peer.sendall(b"x")
"""
CLIENT = """
peer = socket.create_connection(("10.0.0.1", 7000))
peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(2):
    begin = time.monotonic()
    for _ in range(100):
        peer.sendall(b"x")
        receive(peer)
    print((time.monotonic() - begin) / 100 * 1e6)
"""
OTHER = "receive(socket.create_server(('', 7000)))"


@pytest.mark.parametrize(("others", "most_us"), [("", 250), (OTHERS, 600)])
def test_peers_that_poll_on_different_hosts_do_not_wait_for_each_other(
    simunix: Simunix, tmp_path: Path, others: str, most_us: int
) -> None:
    """A round trip is four times the latency; each poller used to keep the turn for a virtual millisecond, two in all."""
    text = PEERS + others
    for name, script in (("SERVER", SERVER), ("CLIENT", CLIENT), ("OTHER", OTHER)):
        text = text.replace(f"-c, {name}]", f"-c, {json.dumps(POLLS + script)}]")
    (tmp_path / "s.yaml").write_text(text)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    for trip_us in (tmp_path / "out/hosts/b/client.out").read_text().split():
        assert 200 < float(trip_us) < most_us
