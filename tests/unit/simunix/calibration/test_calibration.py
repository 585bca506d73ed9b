"""From what charged runs have measured to prices, and how well these foretell."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from rsg_server.processor.costs import Cost, write_costs
from simunix.calibration.measured import Measured, prices_of, read_measured
from simunix.calibration.prices import SHIPPED, read_prices, write_prices
from simunix.calibration.report import foretold, price_of

ONE = {"slurmctld": Measured({"futex": Cost(10, 1000), "clock_read": Cost(2, 50)}, 1050)}
TWO = {
    "slurmctld": Measured({"futex": Cost(30, 1000), "read": Cost(1, 7)}, 1007),
    "sbatch": Measured({"read": Cost(1, 70)}, 70),
}


def test_a_price_is_the_mean_over_all_calls_of_all_runs() -> None:
    assert prices_of([ONE, TWO]) == {"sbatch": {"read": 70}, "slurmctld": {"clock_read": 25, "futex": 50, "read": 7}}


def test_clock_reads_have_a_price_by_place_and_their_mean_where_the_place_is_not_known() -> None:
    learned = {"daemon": Measured({"clock_read@1a3": Cost(1, 900), "clock_read@fff": Cost(2, 60)}, 960)}
    prices = prices_of([learned])
    assert prices == {"daemon": {"clock_read": 320, "clock_read@1a3": 900, "clock_read@fff": 30}}
    other = {"daemon": Measured({"clock_read@1a3": Cost(2, 1700), "clock_read@000": Cost(1, 300), "read": Cost(4, 10)}, 2010)}
    by_each = {point: price_of(prices["daemon"], point) for point in other["daemon"].costs}
    assert by_each == {"clock_read@1a3": 900, "clock_read@000": 320, "read": None}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_costs(tmp_path / "cpu_costs.json", {name: one.costs for name, one in TWO.items()}, {"slurmctld": 1007, "sbatch": 70})
    assert read_measured(tmp_path) == TWO
    write_prices(tmp_path / "costs.yaml", "a computer", prices_of([TWO]))
    assert read_prices(tmp_path / "costs.yaml") == prices_of([TWO])


def test_each_run_is_foretold_by_the_others() -> None:
    slurmctld, sbatch = foretold([ONE, TWO])
    assert (slurmctld.program, slurmctld.calls, slurmctld.unseen_calls) == ("slurmctld", 43, 3)
    assert slurmctld.predicted_s == pytest.approx((10 * 33 + 30 * 100) / 1e9)
    assert slurmctld.charged_s == pytest.approx(2057 / 1e9)
    assert (sbatch.program, sbatch.unseen_calls, sbatch.predicted_s, sbatch.error) == ("sbatch", 1, 0.0, -1.0)
    assert foretold([ONE])[0].error == pytest.approx(0.0)


def test_the_table_that_ships_has_slurms_daemons() -> None:
    assert {"slurmctld", "slurmd", "slurmstepd", "munged", "sbatch", "squeue"} <= set(read_prices(SHIPPED))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file or directory; name a file that simunix calibrate has written"),
        ("a:\n  b: [", ":2: not YAML: expected the node content"),
        ("a: {b: 9999-99-99}\n", ":1: not YAML: '9999-99-99': month must be in 1..12"),
        ("[" * 3000, "nested too deeply"),
        (
            "format: simunix costs 0\nprograms: {}\n",
            "format: expected 'simunix costs 1', found 'simunix costs 0'; calibrate again",
        ),
        ("format: simunix costs 1\nprograms: {a: {read: x}}\n", "programs.a.read: Input should be a valid integer"),
        (
            "format: simunix costs 1\nprograms: {a: {read: 1000000000000}}\n",
            "programs.a.read: Input should be less than or equal",
        ),
        ("format: simunix costs 1\nprograms: {a: {raed: 1}}\n", "programs.a.raed: no such system call"),
        ("format: simunix costs 1\nprograms: {a: {clock_read@1: 1}}\n", "programs.a.clock_read@1: no such system call"),
        ("format: simunix costs 1\n", "programs: Field required"),
        ("- 1\n", "the file: Input should be"),
    ],
)
def test_what_is_no_table_is_refused_in_a_line(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "costs.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SimunixError) as raised:
        read_prices(path)
    assert str(raised.value).startswith(f"cpu_costs: {path}:") and message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file or directory; name folders of runs with cpu_policy: charged"),
        ("{", "not JSON"),
        ("[]", "expected the format 'simunix costs 1', found None"),
        ('{"format": "simunix costs 1"}', "programs: Field required"),
        ('{"format": "simunix costs 1", "programs": {}}', "no program was charged; name runs in which some computed"),
        ('{"format": "simunix costs 1", "programs": {"a": {"calls": {}}}}', "programs.a.charged_ns: Field required"),
        (
            '{"format": "simunix costs 1", "programs": {"a": {"charged_ns": 1, "calls": {"read": [0, 5]}}}}',
            "programs.a.calls.read.0: Input should be greater than or equal to 1",
        ),
    ],
)
def test_a_run_without_measurements_is_refused_in_a_line(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "cpu_costs.json").write_text(text)
    with pytest.raises(SimunixError, match=r"cpu_costs\.json: ") as raised:
        read_measured(tmp_path)
    assert message in str(raised.value)
