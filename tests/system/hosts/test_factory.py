"""The factory of hosts: one socket of the server's for all of them, bursts of news, and what is said when somebody dies."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rsg_server.process.host_state import Command
from simunix.launch.factory.broker import MESSAGE_BYTES, ContainerError, FactoryError, KilledError
from simunix.launch.factory.container import Container, ContainerSpec, Isolation
from simunix.launch.factory.factory import HOSTINIT, HostFactory, _number_in
from simunix.launch.limits.limits import _may_raise_limits
from simunix.launch.supervisor import FROM_OUTSIDE
from tests.conftest import processes_named

NO_SHIM = Path("/dev/null")  # the loader goes on without: these programs run natively
NOFILE, CHANNEL = 4096, 1024
BURST = 400  # more notices than a socket's buffer holds (some 280)


@pytest.fixture
def factory() -> Iterator[HostFactory]:
    with contextlib.closing(HostFactory()) as made:
        yield made


@pytest.fixture(params=Isolation)
def kind(request: pytest.FixtureRequest) -> Isolation:
    """Each that can be had here."""
    wanted = Isolation(request.param)
    try:
        with contextlib.closing(HostFactory()) as factory:
            host(factory, wanted).close()
    except ContainerError as error:
        pytest.skip(str(error))
    return wanted


def host(factory: HostFactory, kind: Isolation, name: str = "a1") -> Container:
    return Container(ContainerSpec(name, Path("/nonexistent"), kind, fresh_run=False, shim=NO_SHIM), factory)


def spawn(container: Container, *argv: str, stdin: int | None = None, **environment: str) -> int:
    null = os.open(os.devnull, os.O_RDWR)
    try:
        command = Command(
            argv=argv,
            environment={"PATH": os.environ["PATH"], **environment},
            directory="/",
            stdin=null if stdin is None else stdin,
            stdout=null,
            stderr=null,
        )
        return container.spawn(command, null, CHANNEL, NOFILE, None)
    finally:
        os.close(null)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def fork_server_of(factory: HostFactory) -> int:
    pid = factory._process.pid
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


def test_idle_hosts_take_no_descriptor_of_the_server(factory: HostFactory, kind: Isolation) -> None:
    before = descriptors()
    hosts = [host(factory, kind, f"a{number}") for number in range(20)]
    assert descriptors() == before
    assert all(len(os.listdir(f"/proc/{each.init}/fd")) < 10 for each in hosts)  # and none of another host's
    for container in hosts:
        container.give_up()
    for container in hosts:
        container.close()


def test_each_host_answers_for_itself(factory: HostFactory, kind: Isolation) -> None:
    """Statuses are kept for whoever asks, in any order."""
    hosts = [host(factory, kind, f"a{number}") for number in range(5)]
    started = [(container, spawn(container, "sh", "-c", f"exit {code}"), code) for code, container in enumerate(hosts)]
    for container, pid, code in reversed(started):
        assert container.wait_status(pid) == code << 8
    with pytest.raises(ContainerError, match=r"host a2: cannot run /none: No such file"):
        spawn(hosts[2], "/none")


def test_a_host_that_is_closed_leaves_its_number_to_nobody(factory: HostFactory, kind: Isolation) -> None:
    first = host(factory, kind, "first")
    slow = spawn(first, "sleep", "1000")
    first.close()
    second = host(factory, kind, "second")
    with pytest.raises(ContainerError, match=r"host first: its init has died"):
        spawn(first, "true")
    assert first.wait_status(slow) == -1
    assert second.wait_status(spawn(second, "sh", "-c", "exit 7")) == 7 << 8
    first.close()


@pytest.mark.slow
def test_bursts_of_ends_meet_long_messages(factory: HostFactory, kind: Isolation) -> None:
    """Neither waits for the other to read first."""
    hosts = [host(factory, kind, f"a{number}") for number in range(2)]
    reading, writing = os.pipe()
    with open(reading, "rb"), open(writing, "wb") as hold:
        pids = [(each, spawn(each, "cat", stdin=reading)) for _ in range(BURST // 2) for each in hosts]
        hold.close()
        long = {f"V{number}": "x" * 100_000 for number in range(2)}
        late = [(each, spawn(each, "sh", "-c", "exit 3", **long)) for _ in range(3) for each in hosts]
        assert {each.wait_status(pid) for each, pid in late} == {3 << 8}
        assert {each.wait_status(pid) for each, pid in reversed(pids)} == {0}


def test_the_longest_message_and_one_more(factory: HostFactory, kind: Isolation) -> None:
    container = host(factory, kind)
    many = {f"V{number}": "x" * 100_000 for number in range(2)}
    room = MESSAGE_BYTES - 200_000 - 400
    assert container.wait_status(spawn(container, "true", **many, V3="x" * room)) == 0
    with pytest.raises(ContainerError, match=r"host a1: arguments and environment of a program exceed 256 KiB"):
        spawn(container, "true", **many, V3="x" * (room + 400))
    with pytest.raises(ContainerError, match=r"host a1: .* zero byte"):
        spawn(container, "true", V="a\0b")


def test_a_host_that_dies_is_told_once_and_alone(factory: HostFactory, kind: Isolation) -> None:
    victim, other = host(factory, kind, "victim"), host(factory, kind, "other")
    pid = spawn(victim, "sleep", f"1{os.getpid()}")
    os.kill(victim.init, signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(ContainerError, match=r"^host victim: its init has died$"):
            spawn(victim, "true")
    assert victim.wait_status(pid) == -1
    assert other.wait_status(spawn(other, "true")) == 0
    victim.close()
    if kind is Isolation.NONE:
        os.kill(pid, signal.SIGKILL)  # nobody is left to do that


def test_what_a_host_has_said_before_it_died_counts(factory: HostFactory) -> None:
    container = host(factory, Isolation.NONE)
    reading, writing = os.pipe()
    pid = spawn(container, "sh", "-c", "read word; exit 6", stdin=reading)
    pidfd = os.pidfd_open(pid)
    os.close(reading)
    os.close(writing)
    await_end(pidfd)
    spawn(container, "true")  # its answer comes behind the notice
    os.kill(container.init, signal.SIGKILL)
    with pytest.raises(ContainerError, match=r"its init has died"):
        spawn(container, "true")
    assert container.wait_status(pid) == 6 << 8


def test_a_host_that_cannot_be_set_up_says_why(factory: HostFactory, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    with pytest.raises(ContainerError, match=r"^host x+: cannot set host name x+: "):
        Container(ContainerSpec("x" * 100, tmp_path, Isolation.ROOT, fresh_run=False), factory)
    assert host(factory, Isolation.ROOT).init > 0


@pytest.mark.parametrize("which", ["relay", "fork server"])
def test_the_factory_dies(kind: Isolation, which: str) -> None:
    mark = f"2{os.getpid()}"
    with contextlib.closing(HostFactory()) as factory:
        container, other = host(factory, kind), host(factory, kind, "other")
        pid = spawn(container, "sleep", mark)
        ended = [os.pidfd_open(each.init) for each in (container, other)]
        os.kill(factory._process.pid if which == "relay" else fork_server_of(factory), signal.SIGKILL)
        with pytest.raises(FactoryError, match=r"^the factory of hosts has died"):
            container.wait_status(pid)
        with pytest.raises(ContainerError, match=r"^host other: the factory of hosts has died"):
            spawn(other, "true")
        other.give_up()
        with pytest.raises(FactoryError, match=r"^the factory of hosts has died"):
            other.close()
    for fd in ended:
        await_end(fd)
    assert not processes_named(f"sleep {mark}")


def test_the_death_of_the_factory_is_no_fault_of_the_host_that_is_to_be_made(kind: Isolation) -> None:
    """A run that ends by it is not deterministic, whenever it comes."""
    with contextlib.closing(HostFactory()) as factory:
        factory._process.kill()
        with pytest.raises(FactoryError, match=r"^host a1: the factory of hosts has died"):
            host(factory, kind)


def test_a_program_that_is_killed_before_it_begins_was_killed_from_outside() -> None:
    answer = "killed cannot bring the shim into /bin/sh: it was killed as it began"
    with pytest.raises(KilledError, match=r"^cannot bring the shim into /bin/sh"):
        _number_in(answer, FactoryError("unused"))
    assert KilledError in FROM_OUTSIDE


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSTOP, signal.SIGUSR1])
def test_signals_to_programs_that_are_about_to_begin(factory: HostFactory, number: signal.Signals) -> None:
    """A traced child stops at a signal; its host's first process has to see to that while it waits for the exec."""
    container = host(factory, Isolation.NONE)
    children = Path(f"/proc/{container.init}/task/{container.init}/children")
    is_over = threading.Event()

    def hit() -> None:
        while not is_over.is_set():
            for pid in children.read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), number)

    def too_long(*_: object) -> None:
        os.kill(factory._process.pid, signal.SIGKILL)

    hitter = threading.Thread(target=hit)
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(30)
    hitter.start()
    try:
        for _ in range(40):
            with contextlib.suppress(KilledError):
                spawn(container, "true")
    finally:
        is_over.set()
        hitter.join()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def await_end(pidfd: int) -> None:
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    assert poller.poll(30_000)
    os.close(pidfd)


def test_hosts_keep_the_limits_of_whoever_started_the_run(factory: HostFactory, kind: Isolation) -> None:
    def limit(pid: int | str) -> str:
        lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
        return next(line for line in lines if line.startswith("Max open files"))

    assert limit(host(factory, kind).init) == limit("self")


def test_it_is_started_by_nobody_else() -> None:
    done = subprocess.run([HOSTINIT], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (2, "simunix-hostinit is started by simunix\n")


def test_odd_messages_do_no_harm() -> None:
    """Numbers that no host has, or that one has had, words that nobody knows."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with subprocess.Popen([HOSTINIT], stdin=theirs) as process, ours:
        theirs.close()
        ours.settimeout(30)
        for text in (
            "host=7\0argv=x\0",
            "host=-1\0argv=x\0",
            "close=99999\0",
            "close=\0",
            "nonsense",
            "birth=0\0namespaces=none\0",
        ):
            ours.send(text.encode())
        assert ours.recv(4096).startswith(b"0 error cannot make a control socket")
        ours.send(b"birth=3\0namespaces=none\0")
        assert ours.recv(4096).startswith(b"0 ok ")
        ours.send(b"birth=3\0namespaces=none\0")
        assert ours.recv(4096).startswith(b"0 error cannot make a control socket: ")
        ours.send(b"host=3\0argv=x\0")
        assert ours.recv(4096) == b"3 error malformed request to start a program"
        ours.send(b"factory=0\0dance=\0")
        assert ours.recv(4096).startswith(b"0 error unknown request dance=")
        ours.close()
        assert process.wait(30) == 0


@pytest.mark.skipif(_may_raise_limits(), reason="this user may raise any limit")
def test_too_few_descriptors_are_told_and_do_no_harm() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with subprocess.Popen(["prlimit", "--nofile=16:16", HOSTINIT], stdin=theirs), ours:
        theirs.close()
        ours.settimeout(30)
        for number in range(1, 20):
            ours.send(f"birth={number}\0namespaces=none\0".encode())
            answer = ours.recv(4096)
            if not answer.startswith(b"0 ok "):
                break
        assert answer == b"0 error cannot make a control socket: Too many open files"
        for fds, expected in ((4, b"1 error too few descriptors in the factory"), (0, b"1 error malformed request")):
            socket.send_fds(ours, [b"host=1\0argv=x\0"], [ours.fileno()] * fds)
            assert ours.recv(4096).startswith(expected)


def test_a_server_that_only_sends_is_not_waited_for() -> None:
    """Thousands of messages before the first answer is read: the one who passes them on blocks on neither side."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with subprocess.Popen([HOSTINIT], stdin=theirs), ours:
        theirs.close()
        ours.settimeout(30)
        ours.send(b"birth=1\0namespaces=none\0")
        assert ours.recv(4096).startswith(b"0 ok ")
        for _ in range(3000):
            ours.send(b"host=1\0argv=x\0")
        for _ in range(3000):
            assert ours.recv(4096).startswith(b"1 error ")
