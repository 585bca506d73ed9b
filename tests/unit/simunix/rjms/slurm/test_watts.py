"""The watts of a machine with some of its nodes off, compared with Glesser's Tables 4.1 and 4.2 and the formulas of his
chapter 4.
"""

from __future__ import annotations

import pytest

from rsg_server.platform.power import Enclosure, HostPower, PowerRange
from simunix.rjms.slurm.power.watts import Machine, work

TABLE_4_2 = {2.7: 358, 2.4: 317, 2.2: 289, 2.0: 269, 1.8: 248, 1.6: 234, 1.4: 213, 1.2: 193}
"""Curie's node: watts at most, by GHz; idle 117, off 14."""
STATES = HostPower(tuple(PowerRange(117, 117, watts) for watts in TABLE_4_2.values()), 14)
SPEEDS = tuple(ghz * 1e9 for ghz in TABLE_4_2)


def machine(nodes: int = 90, chassis_w: float = 0, rack_w: float = 0) -> Machine:
    names = tuple(f"n{number}" for number in range(nodes))
    boxes = [Enclosure(f"c{first}", names[first : first + 18], chassis_w) for first in range(0, nodes, 18) if chassis_w]
    boxes += [Enclosure(f"r{first}", names[first : first + 90], rack_w) for first in range(0, nodes, 90) if rack_w]
    return Machine(names, STATES, SPEEDS, tuple(boxes))


CURIE = machine(5040, 248, 900)


def test_the_tables_of_the_thesis() -> None:
    assert CURIE.most_w == 1_924_160 == 34_360 * 56
    assert machine(5040).most_w == 1_804_320
    one = machine(90, 248, 900)
    assert one.watts(0, 358) == 34_360
    assert one.watts(0, 358) - one.watts(18, 358) == 6_692 == 18 * 344 + 500  # a chassis, with its bonus
    assert one.watts(90, 358) == 0
    assert one.off_w(72) == 900 + 248  # four chassis are dark, the rack is not
    assert one.off_w(17) == 900 + 5 * 248 + 17 * 14


def test_the_example_of_the_thesis_6600_watts() -> None:
    grouped = machine(90, 248).fewest_off(90 * 358 + 5 * 248 - 6600, 358)
    scattered = machine(90).fewest_off(90 * 358 - 6600, 358)
    assert (grouped, scattered) == (18, 20)


@pytest.mark.parametrize("part", [0.8, 0.6, 0.4])
def test_work_under_a_cap_is_that_of_the_formulas(part: float) -> None:
    nodes, cap_w = machine(5040), part * 1_804_320
    off = (cap_w - 5040 * 358) / (14 - 358)
    assert nodes.fewest_off(cap_w, 358) == pytest.approx(off, abs=1)
    slow = 5040 * 193
    degree = 2.7 / 1.2
    if cap_w >= slow:
        lowered = (cap_w - 5040 * 358) / (193 - 358)
        dvfs = 5040 - lowered + lowered / degree
    else:
        dvfs = (cap_w - 5040 * 14) / (193 - 14) / degree
    only = Machine(nodes.nodes[:90], STATES, SPEEDS)
    found = work(only, part * 90 * 358, (0, 7))
    assert found >= max(90 * (1 - off / 5040), 90 * dvfs / 5040) - 1
    assert found == pytest.approx(max(90 * (1 - off / 5040), 90 * dvfs / 5040), abs=1.5)


RACK = Machine(
    tuple(f"n{number}" for number in range(90)),
    STATES,
    tuple(2.7e9 / (1 + 0.63 * (2.7 - ghz) / 1.5) for ghz in TABLE_4_2),
    (
        *(
            Enclosure(f"c{first}", tuple(f"n{number}" for number in range(first, first + 18)), 248)
            for first in range(0, 90, 18)
        ),
        Enclosure("rack", tuple(f"n{number}" for number in range(90)), 900),
    ),
)
"""The rack of scenarios/glesser-powercap.yaml: jobs take 1.63 times as long at 1.2 GHz, linear between."""


@pytest.mark.parametrize(
    ("percent", "shut", "dvfs", "mix", "idle"),
    [(80, 0.789, 0.821, 0.805, 0.683), (60, 0.578, 0.642, 0.596, 0.366), (40, 0.378, 0.096, 0.385, 0.050)],
)
def test_the_table_of_the_study(percent: int, shut: float, dvfs: float, mix: float, idle: float) -> None:
    cap_w = RACK.most_w * percent / 100
    found = {
        "shut": work(RACK, cap_w, (0,)),
        "dvfs": work(RACK, cap_w, tuple(range(8)), may_switch=False),
        "mix": work(RACK, cap_w, (0, 1, 2, 3)),
        "idle": work(RACK, cap_w, (0,), may_switch=False),
    }
    expected = {"shut": shut, "dvfs": dvfs, "mix": mix, "idle": idle}
    assert {name: each / 90 for name, each in found.items()} == pytest.approx(expected, abs=6e-4)


def test_states_below_a_floor_are_left_out_and_those_of_equal_watts() -> None:
    assert machine().states_down_to(2.0e9) == (0, 1, 2, 3)
    equal = Machine(("n",), HostPower((PowerRange(100, 100, 200),) * 2 + (PowerRange(100, 100, 150),), 0), (3e9, 2e9, 1e9))
    assert equal.states_down_to(0) == (0, 2)


def test_licenses_are_what_fits_beyond_the_idle_machine() -> None:
    nodes = machine(90, 248, 900)
    assert nodes.licenses(nodes.most_w, 0) == 90 * (358 - 117)
    assert nodes.licenses(0.6 * 34_360, 0) == int(0.6 * 34_360 - 90 * 117 - 5 * 248 - 900)
    assert nodes.licenses(90 * 117, 0) < 0
    assert nodes.fewest_off(100, 358) == 90
    assert machine(90).fewest_off(100, 358) is None  # 14 W each
