"""Which hosts reach each other, and which datagrams are lost at random."""

from __future__ import annotations

from tests.unit.rsg_server.fakes import HOSTS, Fake

H0, H1 = HOSTS
CUT = (frozenset({"h0"}), frozenset({"h1"}))


def test_a_cut_has_two_sides_and_no_host_is_cut_off_from_itself(world: Fake) -> None:
    reach = world.kernel.wire.reach
    assert reach.is_whole and reach.reaches(H0, H1)
    reach.cuts.append(CUT)
    assert not reach.is_whole
    assert [reach.reaches(a, b) for a, b in ((H0, H1), (H1, H0), (H0, H0))] == [False, False, True]


def test_a_host_that_is_off_does_not_reach_itself(world: Fake) -> None:
    reach = world.kernel.wire.reach
    reach.off.add("h0")
    assert not reach.reaches(H0, H0) and not reach.reaches(H1, H0) and reach.reaches(H1, H1)


def test_nothing_passes_a_link_that_is_down(world: Fake) -> None:
    reach = world.kernel.wire.reach
    link = world.kernel.network.route(H0, H1).links[0]
    world.kernel.network.set_link(link.name, is_up=False)
    assert not reach.reaches(H0, H1)
    world.kernel.network.set_link(link.name, is_up=True)
    assert reach.reaches(H0, H1)


def test_loss_is_drawn_only_where_something_can_be_lost(world: Fake) -> None:
    reach = world.kernel.wire.reach
    before = reach._random.getstate()
    assert not reach.loses(H0, H1) and reach._random.getstate() == before
    reach.pair_loss[CUT] = 0.25
    assert not reach.loses(H0, H0) and reach._random.getstate() == before
    lost = sum(reach.loses(H0, H1) for _ in range(4000))
    assert 900 < lost < 1100
    reach.pair_loss[CUT] = 1.0
    assert reach.loses(H1, H0)
