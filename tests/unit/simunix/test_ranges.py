"""Host lists, folded and expanded, and the slurm.conf that is made of them."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from simunix.launch.view.hardware import Hardware
from simunix.ranges import expand_hosts, fold_hosts
from simunix.rjms.slurm.configuration import ComputeNode, node_lines

NAMES = st.builds(
    lambda prefix, number, width, suffix: f"{prefix}{number:0{width}d}{suffix}",
    st.sampled_from(["n", "node", "r1-n"]),
    st.integers(0, 1200),
    st.integers(1, 4),
    st.sampled_from(["", "-ib"]),
)
SMALL = Hardware(1, 4, 1, 8 << 30)


@example([f"n{'9' * 20}{number}" for number in (1, 2)])  # more digits than a range may have
@given(st.lists(NAMES | st.sampled_from(["login", "controller"]), min_size=1, max_size=40))
def test_what_is_folded_expands_to_the_same(names: list[str]) -> None:
    assert expand_hosts(fold_hosts(names)) == names


def test_folded_lists_are_short() -> None:
    names = expand_hosts("node[0001-5040]")
    assert fold_hosts(names) == "node[0001-5040]"
    assert fold_hosts(["a", "n9", "n10", "n12", "b"]) == "a,n[9-10,12],b"
    assert fold_hosts([]) == ""


def _nodes(first: int, count: int, hardware: Hardware = SMALL) -> list[ComputeNode]:
    return [ComputeNode(f"n{number:03d}", f"10.0.0.{number}", hardware) for number in range(first, first + count)]


def test_nodes_that_are_alike_share_a_line() -> None:
    lines = node_lines(_nodes(1, 40)).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("NodeName=n[001-040] NodeAddr=10.0.0.[1-40] CPUs=4 ")


def test_nodes_of_other_sizes_or_addresses_begin_a_new_line() -> None:
    large = Hardware(2, 8, 1, 64 << 30)
    other = ComputeNode("n300", "10.0.1.0", SMALL)
    lines = node_lines([*_nodes(1, 2), *_nodes(3, 2, large), *_nodes(255, 1), other]).splitlines()
    assert [line.split(" CPUs")[0] for line in lines] == [
        "NodeName=n[001-002] NodeAddr=10.0.0.[1-2]",
        "NodeName=n[003-004] NodeAddr=10.0.0.[3-4]",
        "NodeName=n255 NodeAddr=10.0.0.255",
        "NodeName=n300 NodeAddr=10.0.1.0",
    ]
