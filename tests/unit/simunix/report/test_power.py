"""Power over time, caps and states of machines in a report, and energies of users."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rsg_server.errors import SimunixError
from simunix.report.comparison import POINTS_MAX, Comparison
from simunix.report.page.write import render
from simunix.report.power import bands, power
from simunix.report.run_data import Run, read_run
from simunix.units import human_energy
from tests.unit.simunix.report import runs

STATES = "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing,nb_unavailable\n"


def metered(folder: Path, watts: str, states: str = "") -> Run:
    rows = [replace(row, consumed_energy=1000.0 * row.job_id, user=f"u{row.job_id % 2}") for row in runs.rows(6, 4)]
    out = runs.write_run(folder, rows, 4)
    (out / "power.csv").write_text("time,watts,cap\n" + watts)
    if states:
        (out / "machine_states.csv").write_text(STATES + states)
    return read_run(out)


def test_power_and_caps_over_time(tmp_path: Path) -> None:
    one = metered(tmp_path / "a", "0,100,\n10,300,\n20,300,350\n30,250,350\n40,250,\n")
    other = read_run(runs.write_run(tmp_path / "b", runs.rows(6, 4), 4))
    found = power([one, other], 50.0)
    assert found is not None
    watts, caps = found
    assert watts.x.tolist() == [0, 10, 20, 30, 40, 50]
    assert watts.y[0].tolist() == [100, 300, 300, 250, 250, 250]
    assert np.isnan(watts.y[1]).all()
    assert np.nan_to_num(caps.y[0]).tolist() == [0, 0, 350, 350, 0, 0]
    assert power([other], 50.0) is None and bands(other, 50.0) is None


def test_a_peak_shows_however_many_changes_there_are(tmp_path: Path) -> None:
    rows = [f"{time},{100 if time != 4321 else 900},\n" for time in range(3 * POINTS_MAX)]
    found = power([metered(tmp_path / "r", "".join(rows))], 3.0 * POINTS_MAX)
    assert found is not None and found[0].bin_s == 3 and len(found[0].x) == POINTS_MAX + 1
    assert found[0].y[0].max() == 900 and (found[0].y[0] > 100).sum() == 1


def test_states_of_machines(tmp_path: Path) -> None:
    run = metered(tmp_path / "r", "0,1,\n", "0,0,0,0,64,0,0\n5,16,8,0,10,30,0\n")
    found = bands(run, 10.0)
    assert found is not None and found.x.tolist() == [0, 5, 10]
    assert [one.tolist() for one in found.y] == [[0, 30, 30], [64, 10, 10], [0, 8, 8], [0, 0, 0], [0, 16, 16]]


def test_the_page_has_power_only_where_there_are_watts(tmp_path: Path) -> None:
    with_watts = render(Comparison([metered(tmp_path / "a", "0,100,\n")]), "with")
    without = render(Comparison([read_run(runs.write_run(tmp_path / "b", runs.rows(6, 4), 4))]), "without")
    for text in ('id="power"', ">energy<", "energy of the jobs", "9 kJ"):
        assert text in with_watts and text not in without


def test_a_broken_file_is_one_line(tmp_path: Path) -> None:
    run = metered(tmp_path / "r", "")
    (run.directory / "power.csv").write_text("time,volts\n0,1\n")
    with pytest.raises(SimunixError, match=r"power\.csv: column watts is missing"):
        power([run], 10.0)


def test_energies_as_a_person_reads_them() -> None:
    assert [human_energy(value) for value in (5, 1500, 2.5e6, 1.234e9, 2.5e12)] == [
        "5 J",
        "1.5 kJ",
        "2.5 MJ",
        "1.23 GJ",
        "2,500 GJ",
    ]
