"""BMCs of a scenario: what does not fit is said in one line, and their power sensor has the whole range of their host."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.planning.bmcs import scale, sensor_record
from simunix.planning.expand import expand
from simunix.rjms.scenario import load

SCENARIO = "hosts: [{name: 'n[1-2]', wattage_per_state: ['100:358']}, {name: 'b[1-2]'}]\nbmcs:\n"


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("{name: b1, hosts: n3}", "bmcs[0].hosts: 'n3' is not among the hosts; known: n[1-2],b[1-2]"),
        ("{name: b3, hosts: n1}", "bmcs[0].name: 'b3' is not among the hosts"),
        ("{name: b1, hosts: 'n[1-2]'}", "bmcs[0]: 1 BMCs for 2 hosts; give each host one"),
        ("{name: 'b[1-2]', hosts: 'n1,n1'}", "bmcs[0]: b2 for n1: one of them is a BMC or has one already"),
        ("{name: n1, hosts: n1}", "bmcs[0]: n1 for n1: one of them is a BMC"),
        ("{name: b1, hosts: n1, password: ''}", "bmcs[0].password: expected 1 to 16 letters, digits or signs, got ''"),
        ("{name: b1, hosts: n1, user: 'a b'}", "bmcs[0].user: expected 1 to 16 letters, digits or signs, got 'a b'"),
        ("{name: b1, hosts: n1, colour: red}", "bmcs[0].colour"),
    ],
)
def test_what_does_not_fit(tmp_path: Path, section: str, expected: str) -> None:
    (tmp_path / "s.yaml").write_text(f"{SCENARIO}  - {section}\n")
    with pytest.raises(SimunixError) as caught:
        expand(load(tmp_path / "s.yaml"), tmp_path, checked=False)
    assert expected in str(caught.value) and len(str(caught.value).splitlines()) == 1
    assert "s.yaml:3" in str(caught.value)


def test_a_bmc_is_a_program_on_its_host_that_the_run_does_not_wait_for(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(f"{SCENARIO}  - {{name: 'b[1-2]', hosts: 'n[1-2]'}}\n")
    plan = expand(load(tmp_path / "s.yaml"), tmp_path, checked=False).plan
    assert [(each.host, each.serves) for each in plan.processes] == [("b1", True), ("b2", True)]
    assert {host.name: host.wired for host in plan.hosts} == {"n1": (), "n2": (), "b1": ("n1",), "b2": ("n2",)}


@given(st.floats(0, 100_000))
def test_the_range_of_the_sensor(most_w: float) -> None:
    factor, step, exponent = scale(most_w)
    assert most_w * factor / step < 255 and 0 < step <= 511
    assert factor * 10**exponent == 1
    record = sensor_record(step, exponent)
    assert record[4] == len(record) - 5 and record[24] | record[25] >> 6 << 8 == step
