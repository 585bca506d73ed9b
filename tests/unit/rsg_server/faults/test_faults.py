"""Changes happen at their moments, are taken back, and are checked against the platform beforehand."""

from __future__ import annotations

import pytest

from rsg_server.errors import SimunixError
from rsg_server.faults.changes import (
    REBOOT_NS,
    Change,
    Fault,
    FaultProfile,
    Heal,
    HostChange,
    LinkChange,
    Loss,
    Partition,
    as_message,
    from_message,
)
from rsg_server.faults.faults import check, link_names
from rsg_server.faults.power import LAST_WORDS_NS, SECOND_NS
from tests.unit.rsg_server.fakes import HOSTS, Fake

H0, H1 = HOSTS


def reaches(world: Fake) -> bool:
    return world.kernel.wire.reach.reaches(H0, H1)


def test_changes_happen_at_their_moments_in_the_order_given(world: Fake) -> None:
    moments = [(2000, 5e6), (1000, 3e6), (2000, 4e6)]
    world.kernel.faults.schedule(Fault(at_ns, LinkChange("h0_UP", bandwidth_bytes_per_s=rate)) for at_ns, rate in moments)
    seen = []
    for until_ns in (999, 1000, 2000):
        world.pass_time(until_ns)
        seen.append(world.kernel.network.link("h0_UP").bandwidth_bytes_per_s)
    assert seen == [1.25e9, 3e6, 4e6]
    assert world.kernel.log.counts == {"link": 3}


def test_a_link_change_is_taken_back(world: Fake) -> None:
    network, reach = world.kernel.network, world.kernel.wire.reach
    before = [network.link(name) for name in ("h0_UP", "h0_DOWN")]
    change = LinkChange("h0", bandwidth_bytes_per_s=1e6, latency_s=0.5, is_up=False, loss=0.25)
    world.kernel.faults.schedule([Fault(1000, change, for_ns=500)])
    world.pass_time(1000)
    for name in ("h0_UP", "h0_DOWN"):
        link = network.link(name)
        assert (link.bandwidth_bytes_per_s, link.latency_s, reach.link_loss[name]) == (1e6, 0.5, 0.25)
    assert not reaches(world)
    world.pass_time(1500)
    assert [network.link(name) for name in ("h0_UP", "h0_DOWN")] == before
    assert reaches(world) and reach.link_loss == {}


def test_a_link_keeps_what_a_change_does_not_name(world: Fake) -> None:
    before = world.kernel.network.link("h0_UP")
    world.kernel.faults.apply(LinkChange("h0_UP", latency_s=0.5))
    after = world.kernel.network.link("h0_UP")
    assert (after.bandwidth_bytes_per_s, after.latency_s) == (before.bandwidth_bytes_per_s, 0.5)
    assert world.kernel.network.link("h0_DOWN").latency_s == before.latency_s
    assert reaches(world)


@pytest.mark.parametrize("heal", [Heal(), Heal(("h0",)), Heal(("h0",), ("h1",))])
def test_a_partition_lasts_until_it_is_healed(world: Fake, heal: Heal) -> None:
    apply = world.kernel.faults.apply
    apply(Partition(("h0",)))
    apply(Partition(("h0",), ("h1",)))  # the two mean one cut
    assert not reaches(world)
    apply(heal)
    assert reaches(world)


def test_a_heal_leaves_other_partitions(world: Fake) -> None:
    world.kernel.faults.apply(Partition(("h0",)))
    world.kernel.faults.apply(Heal(("h1",)))
    assert not reaches(world)


def test_loss_is_replaced_and_taken_back(world: Fake) -> None:
    rates = world.kernel.wire.reach.pair_loss
    world.kernel.faults.apply(Loss(("h0",), 0.5))
    world.kernel.faults.apply(Loss(("h0",), 0.75), for_ns=1000)
    assert list(rates.values()) == [0.75]
    world.pass_time(1000)
    assert list(rates.values()) == [0.5]
    world.kernel.faults.apply(Loss(("h0",), 0.0))
    assert rates == {}


def test_a_host_is_off_for_a_while(world: Fake) -> None:
    world.kernel.faults.schedule([Fault(1000, HostChange("h0", "off"), for_ns=500)])
    for until_ns, is_off in ((999, False), (1000, True), (1499, True), (1500, False)):
        world.pass_time(until_ns)
        assert world.kernel.faults.power.is_off("h0") is is_off


def test_a_host_that_reboots_is_off_for_a_minute(world: Fake) -> None:
    world.kernel.faults.apply(HostChange("h0", "reboot"))
    world.pass_time(LAST_WORDS_NS)
    assert world.kernel.faults.power.is_off("h0")
    world.pass_time(LAST_WORDS_NS + REBOOT_NS)
    assert not world.kernel.faults.power.is_off("h0")


def test_a_boot_that_a_scenario_plans_is_known_from_the_start(world: Fake) -> None:
    faults = world.kernel.faults
    faults.schedule([Fault(0, HostChange("h0", "off")), Fault(SECOND_NS, HostChange("h0", "on"))])
    assert faults.power.boots_later("h0")
    world.pass_time(SECOND_NS)
    assert not faults.power.boots_later("h0") and not world.kernel.faults.power.is_off("h0")


def test_a_profile_starts_again_after_its_last_change(world: Fake) -> None:
    points = (Fault(100, LinkChange("h0", is_up=False)), Fault(200, LinkChange("h0", is_up=True)))
    world.kernel.faults.play(FaultProfile(points, loop_after_ns=50))
    seen = []
    for until_ns in (99, 100, 200, 349, 350, 450, 600):
        world.pass_time(until_ns)
        seen.append(reaches(world))
    assert seen == [True, False, True, True, False, True, False]


def test_a_profile_without_a_loop_ends(world: Fake) -> None:
    world.kernel.faults.play(FaultProfile((Fault(100, LinkChange("h0", is_up=False)),)))
    world.pass_time(100)
    assert world.kernel.timeline.next_ns is None


@pytest.mark.parametrize(
    "change",
    [
        HostChange("h0", "off", 5),
        LinkChange("h0", latency_s=0.5, is_up=False),
        Partition(("h0",), ("h1",)),
        Heal(),
        Loss(("h0", "h1"), 0.5),
    ],
)
def test_a_change_survives_its_message(change: Change) -> None:
    message = {key: list(value) if isinstance(value, tuple) else value for key, value in as_message(change).items()}
    assert from_message(message) == change


@pytest.mark.parametrize("message", [{}, {"kind": "Flood"}, {"kind": "HostChange"}, {"kind": "Heal", "all": True}])
def test_a_message_that_is_no_change(message: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError)):
        from_message(message)


def test_names_of_links(world: Fake) -> None:
    platform = world.kernel.platform
    assert link_names(platform, "h0") == ("h0_UP", "h0_DOWN")
    assert link_names(platform, "h0_UP") == ("h0_UP",)
    assert link_names(platform, "h9") == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (HostChange("h1x", "off"), "host 'h1x': no such host; did you mean 'h1'? known: h0, h1"),
        (HostChange("router", "off"), "host 'router': no such host; known: h0, h1"),
        (LinkChange("h0_UPP"), "link 'h0_UPP': no such link; did you mean 'h0_UP'? known: h0, h1, "),
        (Partition(("h0",), ("h1", "h0")), "host h0 is on both sides; name it on one"),
        (
            Partition(("h0", "h1")),
            "the only side given names all hosts; leave out the hosts of the other side, or name both sides",
        ),
        (Loss(("h0", "h7"), 0.5), "host 'h7': no such host; "),
    ],
)
def test_what_does_not_fit_the_platform_is_named(world: Fake, change: Change, words: str) -> None:
    with pytest.raises(SimunixError) as caught:
        check(world.kernel.platform, change)
    assert str(caught.value).startswith(words)


def test_what_fits_the_platform_passes(world: Fake) -> None:
    for change in (HostChange("h0", "off"), LinkChange("h1"), Partition(("h0",)), Heal(("h0", "h1")), Loss(("h0",), 0.5)):
        check(world.kernel.platform, change)
