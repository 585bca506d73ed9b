"""Events act on actors and activities, and what an actor switches off or changes acts on the daemons beside."""

from __future__ import annotations

import time

import pytest

from rsg_server.faults.changes import LinkChange
from simunix.testing import Cluster

SIMULATED = 1_000_000_000


def put(peer: str = "") -> None:
    """Send a gigabyte, and tell what becomes of it and when."""
    from simunix.rsg import Engine, Mailbox, RsgError

    try:
        Mailbox.by_name("box").put(b"", SIMULATED)
        print(f"sent {Engine.get_clock():.3f}")
    except RsgError as error:
        print(f"{type(error).__name__} {Engine.get_clock():.3f}")


def get() -> None:
    """Receive it."""
    from simunix.rsg import Engine, Mailbox, RsgError

    try:
        Mailbox.by_name("box").get()
        print(f"received {Engine.get_clock():.3f}")
    except RsgError as error:
        print(f"{type(error).__name__} {Engine.get_clock():.3f}")


def execute(host: str = "") -> None:
    """Compute 20 Gflop, here or there, and tell what becomes of it."""
    from simunix.rsg import Engine, Host, RsgError, this_actor

    running = this_actor.exec_init(20e9)
    if host:
        running.host = Host.by_name(host)
    try:
        running.start().wait()
        print(f"computed {Engine.get_clock():.3f}")
    except RsgError as error:
        print(f"{type(error).__name__} {Engine.get_clock():.3f}")


@pytest.fixture
def pair(emulation: Cluster) -> Cluster:
    """Two hosts of 20 MB/s; the first puts, the other gets, which takes 50 s."""
    emulation.network(bandwidth="160Mbps", latency="100us", model="raw")
    emulation.hosts("a[1-2]")
    return emulation


def test_a_link_that_goes_down_fails_what_crosses_it(pair: Cluster) -> None:
    near, far = pair.host("a1"), pair.host("a2")
    putter, getter = near.start(put), far.start(get)
    far.disconnect(at="10s")
    pair.run(check=True)
    assert (putter.stdout, getter.stdout) == ("NetworkFailureException 10.000\n", "NetworkFailureException 10.000\n")


def test_a_host_that_goes_off_fails_what_is_done_there(pair: Cluster) -> None:
    near, far = pair.host("a1"), pair.host("a2")
    putter, remote = near.start(put), near.start(pair.python(execute, "a2"))
    getter = far.start(get)
    far.crash(at="10s")
    pair.run()
    assert (putter.stdout, getter.stdout) == ("NetworkFailureException 10.000\n", "")
    assert remote.stdout == "HostFailureException 10.000\n"


def test_a_bandwidth_that_changes_changes_what_crosses_the_link(pair: Cluster) -> None:
    """200 MB by 10 s at 20 MB/s, the other 800 MB at 10 MB/s."""
    near, far = pair.host("a1"), pair.host("a2")
    putter = near.start(put)
    far.start(get)
    pair.change(LinkChange("a2", bandwidth_bytes_per_s=10e6), at="10s")
    pair.run(check=True)
    assert float(putter.stdout.split()[1]) == pytest.approx(90.0, abs=0.05)


def tick() -> None:
    """Tell the time each second."""
    while True:
        print(int(time.monotonic()), flush=True)
        time.sleep(1)


def switch(host: str) -> None:
    """Switch a host off and on again."""
    from simunix.rsg import Host, this_actor

    other = Host.by_name(host)
    this_actor.sleep_until(5.5)
    other.turn_off()
    print(other.is_on())
    this_actor.sleep_until(9.5)
    other.turn_on()
    print(other.is_on())
    this_actor.sleep_until(12.5)


def test_an_actor_that_switches_a_host_off_ends_its_daemons(pair: Cluster) -> None:
    near, far = pair.host("a1"), pair.host("a2")
    switching = near.start(pair.python(switch, "a2"))
    ticking = far.start(tick, daemon=True)
    pair.run(check=True)
    assert switching.stdout == "False\nTrue\n"
    seen = [int(line) for line in ticking.stdout.split()]
    assert seen == [60, 61, 62, 63, 64, 65, 69, 70, 71]  # the host has been up for a minute at the start


def slow_down(link: str) -> None:
    """Give a link half of its bandwidth."""
    from simunix.rsg import Link, this_actor

    this_actor.sleep_until(10)
    Link.by_name(link).set_bandwidth(10e6)


def test_what_an_actor_changes_is_in_the_log_as_an_event(pair: Cluster) -> None:
    near, far = pair.host("a1"), pair.host("a2")
    putter = near.start(put)
    far.start(get)
    near.start(pair.python(slow_down, "a2_DOWN"))
    result = pair.run(check=True)
    assert float(putter.stdout.split()[1]) == pytest.approx(90.0, abs=0.05)
    assert [(event["link"], event["bandwidth_bytes_per_s"]) for event in result.events("link")] == [("a2_DOWN", 10e6)]
