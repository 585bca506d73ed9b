"""The conclusions of a comparison: adopt, weigh, keep, no difference, not decided; and none if the base's own error is
too large.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from simunix.cli.main import main
from simunix.compare.conclusion import (
    ADOPT,
    KEEP,
    NOTHING,
    SAME,
    UNDECIDED,
    WEIGH,
    WRONG,
    Conclusion,
    _part,
    conclude_change,
    effect_cells,
)
from simunix.compare.repeated import Repetitions
from simunix.compare.study import WITHIN_NOISE, Change, Validation, changes_of
from simunix.compare.texts import sentence
from simunix.metrics.changes import errors
from simunix.report.batsim_files import frame
from simunix.report.run_data import Run
from simunix.results.jobs_csv import JobRow
from simunix.statistics.interval import Interval
from tests.unit.simunix.compare.test_compare import folder, jobs
from tests.unit.simunix.report import runs

SEEDS = range(1, 9)
Late = Callable[[str, random.Random], float]
DOUBTFUL = Interval(mean=2.5, low=1.0, high=4.0, count=8)
NOTHING_CHANGED = Interval(mean=0.0, low=0.0, high=0.0, count=8)


def run(label: str, seed: int, late: Late, lost: float = 0.0) -> Run:
    """A run whose jobs start as much later as `late` says of their users; with a core lost for so many seconds each."""
    chance = random.Random(f"{label} {seed}")
    rows = []
    for row in jobs():
        by = late(row.user, chance) + random.Random(seed).random() * 100
        assert row.starting_time is not None and row.finish_time is not None
        moved = replace(row, starting_time=row.starting_time + by, finish_time=row.finish_time + by)
        rows.append(replace(moved, restarts=int(lost > 0), preemptions=0, lost_core_seconds=lost, lost_gpu_seconds=0.0))
    return Run(Path("nowhere"), label, {}, frame(rows), runs.machines(8))


def change(late: Late, lost: float = 0.0, base: Late = lambda user, chance: 500.0) -> Change:
    repeated = {
        "base": {seed: run("base", seed, base) for seed in SEEDS},
        "new": {seed: run("new", seed, late, lost) for seed in SEEDS},
    }
    (found,) = changes_of([repeated["base"][1], repeated["new"][1]], repeated)
    return found


def concluded(found: Change, validation: Validation | None = None) -> Conclusion:
    return conclude_change(found, found.repetitions, validation)


def test_what_is_better_for_all_is_to_be_adopted() -> None:
    found = concluded(change(lambda user, chance: 200 + 20 * chance.random()))
    assert found.kind == ADOPT and found.seeds == len(SEEDS)
    assert found.text.startswith("Adopt new: mean wait −00:04:5") and "95 % interval −00:04:5" in found.text
    assert found.text.endswith("nobody loses beyond noise (8 seeds).")


def test_who_loses_is_named_with_an_interval() -> None:
    found = change(lambda user, chance: (900 if user == "ann" else 0) + 20 * chance.random())
    text = concluded(found)
    assert text.kind == WEIGH
    assert "ann's mean wait +00:06:" in text.text and "interval +00:06:" in text.text.split("ann's mean wait")[1]
    table = found.groups["user"].set_index("name")
    assert table["verdict"].to_dict() == {"ann": "loses", "bob": "wins", "cy": "wins"}
    assert (table["low"] < table["wait_change"]).all() and (table["wait_change"] < table["high"]).all()


def test_who_may_lose_is_named_where_nobody_loses_beyond_noise() -> None:
    found = change(lambda user, chance: chance.gauss(600, 150) if user == "ann" else 200.0)
    text = concluded(found)
    assert found.repetitions.groups["user"]["ann"].differs_alone
    assert text.kind == ADOPT
    told = text.text.partition("; nobody loses beyond noise, but ann may: mean wait +00:01:")[2]
    assert "95 % interval +" in told and told.endswith("; more seeds would tell (8 seeds).")


def test_what_may_be_chance_is_told_beside_no_difference() -> None:
    found = change(lambda user, chance: 500.0)
    first, *others = found.repetitions.effects
    doubtful = replace(others[0], difference=replace(others[0].difference, interval=DOUBTFUL, adjusted_p=0.2))
    object.__setattr__(found.repetitions, "effects", [first, doubtful])
    text = concluded(found)
    assert text.kind == SAME
    told = "mean bounded slowdown +2.5 ("
    assert f"; {told}" in text.text and text.text.endswith("95 % interval +1 … +4) may be chance.")


def test_what_may_be_chance_is_told_beside_what_only_costs() -> None:
    found = change(lambda user, chance: 600.0 if user == "ann" else 500.0)
    first, *others = found.repetitions.effects
    alike = [replace(one, difference=replace(one.difference, interval=NOTHING_CHANGED)) for one in (first, *others)]
    alike[1] = replace(alike[1], difference=replace(others[0].difference, interval=DOUBTFUL, adjusted_p=0.2))
    object.__setattr__(found.repetitions, "effects", alike)
    text = concluded(found)
    assert text.kind == KEEP and text.text.startswith("Keep base: new only costs: ann's mean wait +00:01:40 (")
    assert "; mean bounded slowdown +2.5 (" in text.text and text.text.endswith("+1 … +4) may be chance (8 seeds).")


def test_no_part_is_told_of_what_does_not_change() -> None:
    text = concluded(change(lambda user, chance: 500.0)).text
    assert text == "Keep base: new makes no difference that 8 seeds tell: mean wait 0 s (95 % interval 0 s … 0 s)."


def test_a_winner_does_not_outweigh_a_mean_wait_that_is_worse() -> None:
    found = concluded(change(lambda user, chance: (200 if user == "ann" else 900) + 20 * chance.random()))
    assert found.kind == WEIGH
    assert found.text.startswith("Keep base unless this is worth it: ann's mean wait −00:04:")
    assert ", but mean wait +00:02:" in found.text


def test_core_hours_that_are_lost_are_a_price() -> None:
    found = concluded(change(lambda user, chance: 200 + 20 * chance.random(), lost=3600.0))
    assert found.kind == WEIGH and "lost core hours +12.00 h" in found.text and "requeues +12" in found.text


def test_a_mean_of_counts_is_told_with_a_digit() -> None:
    found = change(lambda user, chance: 500.0, lost=3600.0)
    requeues = next(one for one in found.repetitions.effects if one.metric.name == "restarts")
    assert effect_cells(requeues)[1:4] == ["0", "12", "+12"]
    assert effect_cells(replace(requeues, other=2.2))[2] == "2.2"


def test_what_only_costs_is_to_be_left() -> None:
    found = concluded(change(lambda user, chance: 800 + 20 * chance.random()))
    assert found.kind == KEEP and found.text.startswith("Keep base: new only costs: mean wait +00:05:")


def test_noise_is_no_difference() -> None:
    noise: Late = lambda user, chance: 400 + 200 * chance.random()  # noqa: E731 - a base and a variant of one kind
    found = change(noise, base=noise)
    text = concluded(found)
    assert text.kind == SAME and text.text.startswith("Keep base: new makes no difference that 8 seeds tell: mean wait ")
    assert set(found.groups["user"]["verdict"]) == {WITHIN_NOISE}
    assert "0 users win, 0 lose, 3 within noise" in sentence(found)
    assert [len(moved) for moved in found.repetitions.moved_jobs(9)] == [0, 0]


def test_jobs_that_move_beyond_noise_are_named() -> None:
    found = change(lambda user, chance: (900 if user == "ann" else 500) + 20 * chance.random())
    earlier, later = found.repetitions.moved_jobs(3)
    assert len(earlier) == 0 and set(later["user"]) == {"ann"} and len(later) == 3
    assert (later["low"] > 390).all() and (later["high"] < 440).all()


def test_one_run_of_each_says_nothing_about_noise() -> None:
    base, other = run("base", 1, lambda user, chance: 500.0), run("new", 1, lambda user, chance: 200.0)
    (found,) = changes_of([base, other])
    text = concluded(found)
    assert text.kind == UNDECIDED and "one run of each says nothing about noise" in text.text
    assert "mean wait −00:05:00" in text.text and "--repetitions 5 --set-all perturb=true" in text.text
    assert set(found.groups["user"]["verdict"]) == {"wins"}


def test_repetitions_that_are_equal_count_as_one() -> None:
    base, other = run("base", 1, lambda user, chance: 500.0), run("new", 1, lambda user, chance: 200.0)
    found = Repetitions({1: base, 2: base, 3: base}, {1: other, 2: other, 3: other})
    assert found.seeds == [1]


def test_an_error_larger_than_the_change_is_the_headline() -> None:
    found = change(lambda user, chance: 450 + 20 * chance.random())
    site = frame(jobs())
    assert found.base.counted is not None
    table, _ = errors(site, found.base.counted)
    text = concluded(found, Validation("sacct.txt", {"base": table}))
    assert text.kind == WRONG and text.text.startswith("Do not act on new: against sacct.txt the base starts its jobs 00:0")
    assert "more than the change of the mean wait (−" in text.text
    near = Validation("sacct.txt", {"base": table.assign(error=1.0)})
    assert concluded(found, near).kind == ADOPT


@pytest.mark.parametrize(
    ("relative", "told"), [(-0.23, "−23 %"), (0.0, "+0 %"), (0.0029, "+0.3 %"), (-0.00041, "−0.04 %"), (1.29, "+129 %")]
)
def test_a_small_part_is_not_told_as_none(relative: float, told: str) -> None:
    assert _part(relative) == told


def test_runs_without_a_start_conclude_nothing() -> None:
    waiting = Run(Path("nowhere"), "new", {}, frame([runs.waiting(number, 1.0) for number in (1, 2)]), runs.machines(8))
    base = Run(Path("nowhere"), "base", {}, frame([runs.waiting(number, 1.0) for number in (1, 2)]), runs.machines(8))
    (found,) = changes_of([base, waiting])
    assert concluded(found).kind == NOTHING


def test_the_sentence_comes_last_and_the_numbers_into_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = folder(tmp_path, "one", jobs()), folder(tmp_path, "two", jobs(late=100))
    assert main(["compare", str(one), str(two), "-o", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Not decided: one run of each says nothing about noise")
    assert "<h2>What to do</h2>" in (tmp_path / "out/compare.html").read_text()
    rows = {row["metric"]: row for row in csv.DictReader((tmp_path / "out/conclusions.csv").read_text().splitlines())}
    assert rows["mean_waiting_time"]["variant"] == "two" and float(rows["mean_waiting_time"]["change"]) > 30
    assert (rows["mean_waiting_time"]["low"], rows["mean_waiting_time"]["repetitions"]) == ("", "1")


def test_runs_of_other_traces_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other: list[JobRow] = [replace(row, job_id=row.job_id + 100) for row in jobs()]
    words = ["compare", str(folder(tmp_path, "one", jobs())), str(folder(tmp_path, "two", other)), "-o", str(tmp_path / "out")]
    assert main(words) != 0
    told = capsys.readouterr().err
    assert told == "simunix: two: none of its jobs (101, …) is one of one's (1, …); compare runs of one trace\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--repetitions", "0"], "--repetitions: expected at least 1, got 0"),
        (
            ["--repetitions", "3"],
            "--repetitions: all runs of base would be equal, as nothing is perturbed; add --set-all perturb=true",
        ),
    ],
)
def test_repetitions_that_make_no_sense_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    scenario = Path(__file__).resolve().parents[4] / "scenarios/priorities.yaml"
    assert main(["compare", str(scenario), "--set", "seed=3", *words, "-o", str(tmp_path / "out")]) != 0
    assert told in capsys.readouterr().err


def test_runs_take_no_repetitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = folder(tmp_path, "one", jobs()), folder(tmp_path, "two", jobs(late=100))
    assert main(["compare", str(one), str(two), "--repetitions", "2"]) != 0
    assert "is a finished run, which cannot get another seed; give its scenario" in capsys.readouterr().err
