"""`simunix ps` lists all processes with their threads, in an order that does not depend on the computer."""

from __future__ import annotations

from typing import Any

from rsg_server.diagnosis.ps import list_processes
from rsg_server.protocol import Wait
from tests.unit.rsg_server.fakes import Fake


def listed(world: Fake) -> list[dict[str, Any]]:
    return list_processes(world.kernel.hosts, world.kernel.processes, world.describer())


def test_processes_come_by_host_then_by_birth(world: Fake) -> None:
    for host, pid in (("h1", 5), ("h0", 9), ("h1", 3), ("h0", 4)):
        world.born(host, pid=pid)
    found = [(values["host"], values["pid"]) for values in listed(world)]
    assert found == [("h0", 9), ("h0", 4), ("h1", 5), ("h1", 3)]


def test_a_thread_tells_its_call_and_its_wait(world: Fake) -> None:
    actor = world.born(pid=7)
    world.kernel.parking.park(actor, world.kernel.waits.make(int(Wait.TIME), 35, 2_500_000_000, 0, 0, 0, 0, 500_000_000))
    (values,) = listed(world)
    assert (values["program"], values["command"], values["born_s"]) == ("fake", "/bin/fake", 0.0)
    assert values["threads"] == [
        {"tid": 7, "state": "parked", "call": "nanosleep", "waits_for": "the clock", "since_s": 0.5, "until_s": 2.5}
    ]


def test_a_wait_without_an_end_and_a_thread_that_runs(world: Fake) -> None:
    world.park(world.born(), Wait.TIME)
    world.born()
    waiting, running = (values["threads"][0] for values in listed(world))
    assert waiting["until_s"] is None and waiting["since_s"] == 0.0
    assert (running["state"], running["call"], running["waits_for"]) == ("running", None, None)


def test_a_stopped_process_says_so(world: Fake) -> None:
    actor = world.park(world.born(), Wait.TIME)
    world.kernel.signals.stop(actor.process)
    (values,) = listed(world)
    assert values["threads"][0]["state"] == "stopped"
