"""Programs that do everything at once, on two hosts, again and again: one single digest, also on a busy computer."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from simunix.testing import Cluster
from tests.system.load import busy_computer

PROGRAMS = Path(__file__).parents[1] / "programs"


@pytest.fixture
def busy_host() -> Iterator[None]:
    with busy_computer():
        yield


def start_mixed(emulation: Cluster) -> None:
    """Threads, forks, sockets, pipes, signals and timers, between a client and a server."""
    emulation.network(latency="200us", bandwidth="100Mbps")
    near, far = emulation.hosts("a[1-2]")
    program = emulation.c(PROGRAMS / "mixed.c")
    far.start(program, "server", name="server")
    near.start(program, "client", "a2", name="client", at="10ms")


def start_rough(emulation: Cluster) -> None:
    """Deaths, stops, locks and orphans, on two hosts at the same time."""
    for host in emulation.hosts("a[1-2]"):
        host.start(emulation.c(PROGRAMS / "rough.c"))


def start_terminals(emulation: Cluster) -> None:
    """Terminals, stops at birth, owners of locks that die, on two hosts at the same time."""
    program = emulation.c(PROGRAMS / "terminals.c")
    for host in emulation.hosts("a[1-2]"):
        host.start(program)


TERMINAL_IN_EPOLL = """
import os, pty, select, time
epoll, (reader, writer), order = select.epoll(), os.pipe(), []
child, master = pty.fork()
if child == 0:
    for _ in range(100):
        time.sleep(0.001)
        os.write(1, b"terminal")
        os.write(writer, b"pipe")
    os._exit(0)
os.close(writer)
open_ = {master, reader}
for fd in open_:
    epoll.register(fd, select.EPOLLIN)
while open_:
    for fd, _ in epoll.poll():
        try:
            order.append(os.read(fd, 100))
        except OSError:
            order.append(b"")
        if not order[-1]:
            epoll.unregister(fd)
            open_.remove(fd)
print(order)
"""


def start_terminal_in_epoll(emulation: Cluster) -> None:
    """What a slave writes reaches its master in the kernel's own time; an epoll that watches the master is no poll of it."""
    for host in emulation.hosts("a[1-2]"):
        host.start("python3", "-c", TERMINAL_IN_EPOLL)


JOB_CONTROL = """set -m
for i in 1 2 3 4 5 6 7 8; do
    sleep 0.3 & kill -STOP %%; sleep 0.1; bg %% >told; cat told; wait
    sleep 0.3 & kill -STOP %%; sleep 0.1; kill -CONT %%; (jobs); fg %%
done"""


def start_job_control(emulation: Cluster) -> None:
    """A shell is told by a job that it goes on when the job is let run, before the shell's next call or after it."""
    for host in emulation.hosts("a[1-2]"):
        host.start("bash", "-c", JOB_CONTROL)


def run_often(emulation: Cluster, repetitions: int) -> set[tuple[str, ...]]:
    """What was seen in so many runs: digest and outputs of each; every program must succeed each time."""
    seen = set()
    for _ in range(repetitions):
        result = emulation.run(check=True)
        assert not result.warnings
        seen.add((result.digest, *(process.stdout for process in emulation.processes)))
    return seen


Start = Callable[[Cluster], None]


@pytest.mark.parametrize(
    "start", [start_mixed, start_rough, pytest.param(start_terminals, marks=pytest.mark.slow), start_terminal_in_epoll]
)
def test_five_runs_are_one(emulation: Cluster, start: Start) -> None:
    start(emulation)
    assert len(run_often(emulation, 5)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "repetitions"),
    [
        (start_mixed, 60),
        pytest.param(start_mixed, 200, marks=pytest.mark.endurance),
        (start_rough, 20),
        pytest.param(start_rough, 60, marks=pytest.mark.endurance),
        (start_terminals, 15),
        pytest.param(start_terminals, 50, marks=pytest.mark.endurance),
        (start_job_control, 20),
    ],
)
def test_many_runs_on_a_busy_computer_are_one(emulation: Cluster, start: Start, repetitions: int, busy_host: None) -> None:
    start(emulation)
    assert len(run_often(emulation, repetitions)) == 1


@pytest.mark.parametrize("kind", [resource.RLIMIT_STACK, resource.RLIMIT_DATA, resource.RLIMIT_MEMLOCK])
def test_limits_of_the_shell_do_not_matter(emulation: Cluster, kind: int) -> None:
    start_mixed(emulation)
    shell = emulation.host("a1").start("ulimit -a", name="shell")
    first, limits = run_often(emulation, 1), shell.stdout
    soft, hard = resource.getrlimit(kind)
    enough = max(1 << 30, 2 * psutil.Process().memory_info().data)  # the tests before may have taken more than 1 GiB of data
    resource.setrlimit(kind, (enough if hard == resource.RLIM_INFINITY else hard // 2, hard))
    try:
        assert run_often(emulation, 1) == first
    finally:
        resource.setrlimit(kind, (soft, hard))
    assert shell.stdout == limits


@pytest.mark.slow
@pytest.mark.parametrize("start", [start_mixed, start_rough])
def test_another_seed_is_another_run(emulation: Cluster, start: Start) -> None:
    start(emulation)
    first = run_often(emulation, 1)
    emulation.seed = 1
    assert not first & run_often(emulation, 1)


def test_mixed_program_counts_right(emulation: Cluster) -> None:
    start_mixed(emulation)
    emulation.run(check=True)
    assert emulation.process("client").stdout.startswith("sent ")
    assert emulation.process("server").stdout.startswith("answered 36, datagrams 9, told of children ")
