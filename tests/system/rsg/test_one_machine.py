"""Programs that name the simulation and programs that are intercepted share links, cores and disks: closed forms."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simunix.testing import Cluster
from tests.conftest import Simunix

REAL = 20_000_000
SIMULATED = 1_000_000_000


def put(seconds: float) -> None:
    """Send simulated bytes to the other actor, and tell how long that takes."""
    from simunix.rsg import Engine, Mailbox, this_actor

    this_actor.sleep_until(seconds)
    begin = Engine.get_clock()
    Mailbox.by_name("box").put(b"", SIMULATED)
    print(Engine.get_clock() - begin)


def get() -> None:
    """Receive them."""
    from simunix.rsg import Mailbox

    Mailbox.by_name("box").get()


def send(host: str) -> None:
    """Send real bytes over TCP, and tell how long it takes until all have come."""
    with socket.create_connection((host, 7000)) as peer:
        begin = time.monotonic()
        peer.sendall(bytes(REAL))
        peer.shutdown(socket.SHUT_WR)
        peer.recv(1)
        print(time.monotonic() - begin)


def swallow() -> None:
    """Read a connection to its end."""
    with socket.create_server(("", 7000)) as listener, listener.accept()[0] as peer:
        while peer.recv(1 << 20):
            pass


@pytest.mark.parametrize("model", ["raw", "CM02", "LV08"])
@pytest.mark.parametrize(("mailbox_s", "tcp_s", "of_tcp_s", "of_mailbox_s"), [(1.0, 2.0, 2.0, 51.0), (1.5, 1.0, 1.5, 50.5)])
def test_a_mailbox_and_a_tcp_connection_have_half_a_link_each(
    emulation: Cluster, model: str, mailbox_s: float, tcp_s: float, of_tcp_s: float, of_mailbox_s: float
) -> None:
    """TCP's 20 MB at half of 20 MB/s take 2 s; if TCP comes first, 10 MB have gone alone in 0.5 s, and the rest takes 1 s."""
    emulation.network(bandwidth="160Mbps", latency="100us", model=model)
    near, far = emulation.hosts("a[1-2]")
    far.start(swallow)
    tcp = near.start(emulation.python(send, "a2"), at=f"{tcp_s}s")
    mailbox = near.start(emulation.python(put, mailbox_s))
    far.start(get)
    emulation.run(check=True)
    payload = 0.97 if model == "LV08" else 1.0
    assert float(tcp.stdout) == pytest.approx(of_tcp_s / payload, rel=0.01)
    assert float(mailbox.stdout) == pytest.approx(of_mailbox_s / payload, rel=0.001)


@pytest.mark.parametrize("model", ["raw", "CM02", "LV08"])
def test_each_alone_has_the_whole_link(emulation: Cluster, model: str) -> None:
    emulation.network(bandwidth="160Mbps", latency="100us", model=model)
    near, far = emulation.hosts("a[1-2]")
    far.start(swallow)
    tcp = near.start(emulation.python(send, "a2"), at="1s")
    mailbox = near.start(emulation.python(put, 3.0))
    far.start(get)
    emulation.run(check=True)
    payload = 0.97 if model == "LV08" else 1.0
    assert float(tcp.stdout) == pytest.approx(1.0 / payload, rel=0.01)
    assert float(mailbox.stdout) == pytest.approx(50.0 / payload, rel=0.001)


def test_two_runs_of_both_are_one(emulation: Cluster) -> None:
    emulation.network(bandwidth="160Mbps", latency="100us", model="LV08")
    near, far = emulation.hosts("a[1-2]")
    far.start(swallow)
    near.start(emulation.python(send, "a2"), at="1s")
    near.start(emulation.python(put, 1.5))
    far.start(get)
    assert emulation.run(check=True).digest == emulation.run(check=True).digest


# Cores

COMPUTES = Path(__file__).parents[1] / "programs/cpu_limits.c"
COSTS = "format: simunix costs 1\nprograms:\n  cpu_limits: {getppid: 1000000000}\n"
SCENARIO = """
name: cores
cpu_policy: {default: modelled, programs: {PYTHON: free}}
cpu_costs: costs.yaml
costs: {clock_read: 0, poll: 0, call: 0}
hosts: [{name: a, cores: CORES, speed: [1Gf, 500Mf]}]
processes:
  - {name: daemon, host: a, start: 5s, command: [PROGRAM, calls, '10']}
  - {name: actor, host: a, command: [EXECUTABLE, FOLDER/actor.py, 'TERMS']}
MORE
"""
ACTOR = """
import sys
from simunix.rsg import Engine, this_actor

priority, bound = map(float, sys.argv[1].split())
this_actor.sleep_until(5)
running = this_actor.exec_init(20e9).set_priority(priority).set_bound(bound).start()
this_actor.sleep_until(7.5)
print(this_actor.get_host().load)
running.wait()
print(Engine.get_clock() - 5)
"""


def computed(simunix: Simunix, folder: Path, cores: int, terms: str, more: str = "") -> tuple[float, float, float]:
    """How long 10 s of a daemon's computing take, and 20 Gflop of an execution, which begin together; the load meanwhile."""
    program = folder / "cpu_limits"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", program, COMPUTES, "-pthread"], check=True)
    (folder / "costs.yaml").write_text(COSTS)
    (folder / "actor.py").write_text(ACTOR)
    text = SCENARIO
    for name, value in (
        ("MORE", more),
        ("CORES", str(cores)),
        ("FOLDER", str(folder)),
        ("PYTHON", Path(sys.executable).name),
        ("PROGRAM", str(program)),
        ("EXECUTABLE", sys.executable),
        ("TERMS", terms),
    ):
        text = text.replace(name, value)
    (folder / "s.yaml").write_text(text)
    done = simunix("run", folder / "s.yaml", "--set", f"shared=[{folder}]", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    load, execution = map(float, (folder / "out/hosts/a/actor.out").read_text().split())
    ended = [json.loads(line) for line in (folder / "out/events.jsonl").read_text().splitlines()]
    daemon = next(event for event in ended if event["event"] == "process_exit" and event["program"].endswith("cpu_limits"))
    return daemon["t"] / 1e9 - 5, execution, load


@pytest.mark.parametrize(
    ("cores", "terms", "daemon_s", "execution_s", "load"),
    [
        (1, "1 -1", 20.0, 30.0, 1e9),  # half each until the daemon has its 10 s
        (2, "1 -1", 10.0, 20.0, 2e9),  # a core each
        (1, "3 -1", 30.0, 20 / 0.75, 1e9),  # a quarter for the daemon until the execution has its 20 s
        (1, "1 25e7", 10 / 0.75, 80.0, 1e9),  # the execution has a quarter at most
    ],
)
def test_an_execution_and_a_daemon_share_cores(
    simunix: Simunix, tmp_path: Path, cores: int, terms: str, daemon_s: float, execution_s: float, load: float
) -> None:
    daemon, execution, seen = computed(simunix, tmp_path, cores, terms)
    assert execution == pytest.approx(execution_s, rel=1e-3)
    assert daemon == pytest.approx(daemon_s, rel=1e-3)
    assert seen == pytest.approx(load, rel=1e-6)


SLOW = "from simunix.rsg import Host, this_actor; this_actor.sleep_until(10); Host.by_name('a').pstate = 1"


@pytest.mark.parametrize(
    "more",
    ["events: [{at: 10s, host: a, pstate: 1}]", f'  - {{name: slow, host: a, command: [EXECUTABLE, -c, "{SLOW}"]}}'],
    ids=["event", "actor"],
)
def test_a_power_state_is_that_of_both(simunix: Simunix, tmp_path: Path, more: str) -> None:
    """At 10 s both have done 5 s; what is left takes twice as long from then on."""
    daemon, execution, _ = computed(simunix, tmp_path, 2, "1 -1", more)
    assert (daemon, execution) == (pytest.approx(15.0, rel=1e-3), pytest.approx(35.0, rel=1e-3))
