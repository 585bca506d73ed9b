"""Which application gets the disk, tested without sockets; and the messages over sockets."""

from __future__ import annotations

import pytest

from simunix.io_coordinator.coordinator import Coordinator, CoordinatorError
from simunix.io_coordinator.groups import Periodic, best_groups, divided, partitions
from simunix.io_coordinator.periodic import phases_of
from simunix.io_coordinator.policies import BEST_EFFORT, NAMES
from simunix.io_coordinator.wire import LINE_MAX, Lines, WireError, numbers, parse_address, words_of

S = 10**9


def waiting(policy: str, *groups: str) -> Coordinator:
    """Three applications that wait at 20 s: 1 asked last, for most; 2 has had an I/O phase; 3 has the most to do."""
    coordinator = Coordinator(policy)
    names = groups or ("-", "-", "-")
    one, two, three = (
        coordinator.register(0, number, alone_s * S, name)
        for number, alone_s, name in zip((1, 2, 3), (100, 50, 200), names, strict=True)
    )
    coordinator.request(2 * S, two, 10, 0)
    two.granted(2 * S)
    coordinator.release(6 * S, two)
    coordinator.request(10 * S, three, 20, 5)
    coordinator.request(15 * S, two, 10, 7)
    coordinator.request(18 * S, one, 30, 9)
    return coordinator


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("lowest-id", [1]),
        ("longest-io", [1]),
        ("shortest-io", [2]),
        ("shortest-remaining", [2]),
        ("longest-remaining", [3]),
        ("fifo", [3]),
        ("bandwidth", [1]),  # 1 and 3 have had no I/O so far
        ("stretch", [3]),  # 3 has waited for 10 s of 20 s
        ("order", [3]),  # all wait
        (BEST_EFFORT, [1, 2, 3]),
    ],
)
def test_each_policy_grants_its_own_choice(policy: str, expected: list[int]) -> None:
    coordinator = waiting(policy)
    assert [application.number for application in coordinator.decide(20 * S)] == expected
    assert coordinator.decide(20 * S) == []  # one has the disk


def test_the_policies_are_those_of_the_thesis_and_two_more() -> None:
    assert len(NAMES) == 10


def test_groups_have_the_disk_at_the_same_time_and_their_members_do_not() -> None:
    coordinator = waiting("fifo", "b", "a", "a")
    assert [application.number for application in coordinator.decide(20 * S)] == [3, 1]
    coordinator.release(21 * S, coordinator.applications[3])
    assert [application.number for application in coordinator.decide(21 * S)] == [2]


def test_who_goes_leaves_the_disk_to_others() -> None:
    coordinator = waiting("fifo")
    (holder,) = coordinator.decide(20 * S)
    coordinator.gone(holder)
    assert [application.number for application in coordinator.decide(20 * S)] == [2]


def test_a_schedule_leaves_the_disk_idle_until_who_is_due_comes() -> None:
    coordinator = Coordinator("order")
    one, two = (coordinator.register(0, number, 0, "-") for number in (1, 2))
    coordinator.request(1 * S, one, 10, 1)
    assert coordinator.decide(1 * S) == []
    coordinator.request(2 * S, two, 10, 0)
    assert coordinator.decide(2 * S) == [two]
    coordinator.release(3 * S, two)
    assert coordinator.decide(3 * S) == [one]
    coordinator.release(4 * S, one)
    coordinator.request(5 * S, one, 10, 3)
    assert coordinator.decide(5 * S) == []
    coordinator.gone(two)  # which had phase 2
    assert coordinator.decide(5 * S) == [one]


def test_what_an_application_may_not_do() -> None:
    coordinator = waiting("fifo")
    with pytest.raises(CoordinatorError, match="there is an application 1 already; give each a number of its own"):
        coordinator.register(20 * S, 1, 0, "-")
    with pytest.raises(CoordinatorError, match="application 1 has asked already; it must release first"):
        coordinator.request(20 * S, coordinator.applications[1], 1, 0)
    with pytest.raises(CoordinatorError, match="application 1 has no grant to release"):
        coordinator.release(20 * S, coordinator.applications[1])


def test_messages_are_lines_of_words() -> None:
    lines = Lines()
    assert lines.feed(b"REQUEST 1") == []
    assert lines.feed(b"0 0\nRELEASE\nRE") == [b"REQUEST 10 0", b"RELEASE"]
    assert words_of(b"GRANT 0") == ["GRANT", "0"]
    assert numbers(["1", "2"], 2, "REQUEST") == [1, 2]
    with pytest.raises(WireError, match="more than"):
        lines.feed(b"x" * (LINE_MAX + 1))
    for wrong in (["1"], ["1", "-2"], ["1", "x"], ["1", "9" * 20]):
        with pytest.raises(WireError, match="REQUEST: expected 2 whole numbers"):
            numbers(wrong, 2, "REQUEST")
    for line in (b"", b"\xff"):
        with pytest.raises(WireError):
            words_of(line)


@pytest.mark.parametrize("text", ["host", "host:", ":7000", "host:0", "host:65536", "host:x", "unix:"])
def test_an_address_is_a_host_and_a_port_or_a_path(text: str) -> None:
    assert parse_address("host:7000")[1] == ("host", 7000)
    assert parse_address("unix:/tmp/x")[1] == "/tmp/x"
    with pytest.raises(WireError, match="expected HOST:PORT or unix:PATH"):
        parse_address(text)


# Exclusive groups (chapter V)


def test_equal_applications_belong_together() -> None:
    """E8: volumes 1, 1, 4, 4 that leave the disk time: objective 4 in one group, 4 each alone, 2 by pairs."""
    applications = [Periodic(volume, 1e6) for volume in (1, 1, 4, 4)]
    together, apart = divided(applications, [[0, 1, 2, 3]], 1.0), divided(applications, [[0], [1], [2], [3]], 1.0)
    assert together is not None and together.objective == 4
    assert apart is not None and apart.objective == 4
    best = best_groups(applications, 1.0)
    assert best is not None
    assert (best.members, best.bandwidths, best.objective) == (((0, 1), (2, 3)), (0.5, 0.5), 2.0)


def test_a_group_gets_what_it_needs_in_the_long_run() -> None:
    applications = [Periodic(6, 10), Periodic(1, 100)]
    found = divided(applications, [[0], [1]], 1.0)
    assert found is not None
    assert found.bandwidths == pytest.approx((0.6, 0.4))
    assert found.objective == pytest.approx(2.5)
    assert divided([Periodic(11, 10)], [[0]], 1.0) is None
    assert best_groups([Periodic(6, 10), Periodic(6, 10)], 1.0) is None


def test_partitions_are_all_there() -> None:
    assert [len(list(partitions(count))) for count in range(6)] == [1, 1, 2, 5, 15, 52]


def test_noise_belongs_to_the_application() -> None:
    assert phases_of(2.0, 500, 2, 0.0, "1/1") == [(2 * S, 500)] * 2
    noisy = phases_of(2.0, 500, 100, 0.2, "1/1")
    assert noisy == phases_of(2.0, 500, 100, 0.2, "1/1") != phases_of(2.0, 500, 100, 0.2, "1/2")
    assert all(1.6 * S <= compute_ns <= 2.4 * S and 400 <= size <= 600 for compute_ns, size in noisy)
