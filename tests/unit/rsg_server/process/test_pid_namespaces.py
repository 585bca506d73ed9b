"""Which processes are in a PID namespace within a host's, and which of them end with its process 1."""

from __future__ import annotations

from rsg_server.platform.host import Host
from rsg_server.process.host_state import HostState
from rsg_server.process.life.orphans import enter_namespace, members_of_namespace, with_members
from rsg_server.process.process import Process, number_at_level
from rsg_server.protocol import FLAG_FAKE_NAME


def born(host: HostState, number: int, parent: Process | None, reaper: int = 0) -> Process:
    """A process whose pid is ten times its number, in the namespace of the process with pid `reaper`."""
    process = Process(number, host, parent, "program", seed=number, nofile=(64, 64))
    process.pid = 10 * number
    host.processes[process.pid] = process
    if reaper:
        enter_namespace(process, reaper)
    return process


def family() -> tuple[HostState, list[Process]]:
    """1 has made 2, process 1 of a namespace; in it are 3, and 4, process 1 of one within, and in that 5; 6 is outside."""
    host = HostState(Host("a", ()))
    one = born(host, 1, None)
    two = born(host, 2, one, reaper=20)
    three = born(host, 3, two, reaper=20)
    four = born(host, 4, three, reaper=40)
    five = born(host, 5, four, reaper=40)
    return host, [one, two, three, four, five, born(host, 6, one)]


def test_a_process_is_in_its_namespace_and_in_those_around() -> None:
    _, (one, two, three, four, five, six) = family()
    assert [process.is_within(two) for process in (one, two, three, four, five, six)] == [False, True, True, True, True, False]
    assert [process.is_within(four) for process in (one, two, three, four, five, six)] == [
        False,
        False,
        False,
        True,
        True,
        False,
    ]
    assert four.outside is two and two.outside is None


def test_members_are_told_in_the_order_of_their_numbers_without_process_1() -> None:
    host, (_, two, three, four, five, _) = family()
    host.processes = dict(reversed(host.processes.items()))
    assert members_of_namespace(two) == [three, four, five]
    assert members_of_namespace(four) == [five]


def test_process_1_dies_last() -> None:
    _, (one, two, three, four, five, six) = family()
    assert with_members([two, six]) == [three, four, five, two, six]
    assert with_members([six, one]) == [six, one]
    assert with_members([four, two]) == [five, four, three, two]


def test_a_new_image_stays_where_it_is() -> None:
    _, (_, two, *_) = family()
    enter_namespace(two, 20)
    assert two.reaper is two and two.outside is None


def test_the_number_of_the_host_is_at_its_level() -> None:
    assert number_at_level("4711\t12\t1", HostState(Host("a", ())).level) == 12
    assert number_at_level("4711\t12", HostState(Host("a", ()), flags=FLAG_FAKE_NAME).level) == 4711
    assert number_at_level("4711", 1) == 4711
    assert number_at_level("", 1) == -1
