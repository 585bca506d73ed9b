"""Real daemons beside emulated ones: the script, what is read of a run, the comparison, the file of results, the page."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simunix_bench.context import CHECKOUT
from simunix_bench.fidelity import page, rows
from simunix_bench.fidelity.arms import script_named
from simunix_bench.fidelity.comparison import difference, inverted, judge, pairs_of
from simunix_bench.fidelity.figures import FIGURES, deviation, spread
from simunix_bench.fidelity.measure import add_result, main, read_results
from simunix_bench.fidelity.mixed import mixed
from simunix_bench.fidelity.player import of_copy, play
from simunix_bench.fidelity.queue import QUICK, queue
from simunix_bench.fidelity.records import Burst, Diagnosis, JobRecord, Run, diagnosis_of, jobs_of, read_run

SDIAG = """*******************************************************
sdiag output at Mon Nov 23 12:54:54 2026 (1795438494)
Main schedule statistics (microseconds):
	Last cycle:   2446
	Total cycles: 2
	Mean cycle:   1923
	Mean depth cycle:  1980

Backfilling stats
	Total cycles: 4
	Last cycle when: Mon Nov 23 12:54:32 2026 (1795438472)
	Mean cycle: 72699
	Depth Mean: 862

Remote Procedure Call statistics by message type
	REQUEST_JOB_INFO                        ( 2003) count:100    ave_time:1731   total_time:173100

Remote Procedure Call statistics by user
	root            (       0) count:1      ave_time:289    total_time:289
"""
SHOWN = """\
JobId=1 JobName=a JobState=COMPLETED Restarts=1 SubmitTime=1005 StartTime=1007 EndTime=1017 NodeList=node[1-2]
JobId=3 ArrayJobId=2 ArrayTaskId=1 JobName=b JobState=TIMEOUT Restarts=0 SubmitTime=1006 StartTime=1008 EndTime=1068 NodeList=n3
JobId=4 JobName=a JobState=CANCELLED Restarts=0 SubmitTime=1009 StartTime=Unknown EndTime=1010 NodeList=(null)
"""
LOG = "begin 1 0 1006.5\nend 1 0 1006.9\nbegin 3 0 1008.25\nbegin 1 1 1007.5\nend 1 1 1017.5\n"


def job(key: str, start_s: float) -> JobRecord:
    return JobRecord(key, "COMPLETED", 0, int(start_s), int(start_s) + 10, "node1", 0, start_s)


def run(starts: dict[str, float], arm: str = "real") -> Run:
    return Run(arm, "mixed", 330.0, (0.5, 0.6), tuple(job(key, at) for key, at in sorted(starts.items())), {}, {})


def queue_run(arm: str, scale: float) -> Run:
    burst = Burst(1000, 0, 8 * scale, 0.7 * scale, 0.7 * scale, 0.8 * scale)
    means_s = {"main": 0.002 * scale, "backfill": 0.09 * scale}
    told = Diagnosis({"main": 12, "backfill": 12}, means_s, {"REQUEST_JOB_INFO": (9, 0.01 * scale)})
    bursts = dict.fromkeys(("burst", "more", "squeue"), burst)
    return Run(arm, "queue", 300.0, (1.0, 1.0), (), bursts, {"watched": told, "asked": told})


STARTS = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.floats(0, 300), min_size=1, max_size=12)


@given(STARTS)
def test_a_run_does_not_differ_from_itself(starts: dict[str, float]) -> None:
    own = run(starts)
    found = difference(own, own)
    assert set(found.start_s.values()) == {0.0} == {found.most_s, found.median_s, found.inverted}
    assert not (found.lacking or found.states or found.nodes or found.restarts or found.moved)
    assert judge(own, [own, own]).is_within(pairs_of([own, own]))


@given(STARTS, st.floats(-50, 50))
def test_a_shift_of_all_starts_is_the_difference(starts: dict[str, float], shift_s: float) -> None:
    moved = run({key: at + shift_s for key, at in starts.items()})
    found = difference(run(starts), moved)
    assert found.start_s == pytest.approx(dict.fromkeys(starts, shift_s))
    assert found.most_s == pytest.approx(abs(shift_s))
    assert found.inverted == 0 and not found.lacking


@given(STARTS, STARTS)
def test_a_difference_has_no_direction_but_its_sign(one: dict[str, float], two: dict[str, float]) -> None:
    there, back = difference(run(one), run(two)), difference(run(two), run(one))
    assert there.start_s == {key: -apart for key, apart in back.start_s.items()}
    assert (there.lacking, there.inverted, there.moved) == (back.lacking, back.inverted, back.moved)
    assert set(there.lacking) == set(one) ^ set(two)


def test_order_is_that_of_pairs_more_than_a_second_apart() -> None:
    assert inverted([(0.0, 0.0), (10.0, 10.0), (20.0, 5.0)]) == 1 / 3
    assert inverted([(0.0, 0.4), (0.5, 0.0)]) == 0
    assert inverted([]) == 0


def test_what_differs_is_named() -> None:
    one = run({"a": 1.0, "b": 2.0, "c": 3.0})
    a, b, c = one.jobs
    two = replace(one, jobs=(replace(a, state="FAILED"), replace(b, nodes="node2", restarts=1), replace(c, key="d")))
    found = difference(one, two)
    assert (found.states, found.nodes, found.restarts, found.lacking) == (("a",), ("b",), ("b",), ("c", "d"))


def test_a_job_is_beyond_if_it_is_further_from_each_real_run_than_two_of_these_are() -> None:
    real = [run({"a": 10.0, "b": 20.0}), run({"a": 10.1, "b": 24.0})]
    near = judge(run({"a": 10.9, "b": 27.0}, "charged"), real)
    assert (near.nearest, near.beyond) == (1, ())
    assert near.is_within(pairs_of(real))
    far = judge(run({"a": 12.0, "b": 22.0}, "charged"), real)
    assert far.beyond == ("a",)
    assert not far.is_within(pairs_of(real))


def test_jobs_have_the_same_key_in_each_run_and_times_after_the_origin() -> None:
    assert jobs_of(SHOWN, LOG, 1000) == (
        JobRecord("a", "COMPLETED", 5, 7, 17, "node[1-2]", 1, 7.5, 17.5),
        JobRecord("a#2", "CANCELLED", 9, None, 10, "", 0),
        JobRecord("b[1]", "TIMEOUT", 6, 8, 68, "n3", 0, 8.25, None),
    )
    assert jobs_of(SHOWN, LOG.replace("end 1 1 1017.5\n", ""), 1000)[0].done_s is None, "the end before a restart is no end"


def test_what_sdiag_told() -> None:
    found = diagnosis_of(SDIAG)
    assert found.cycles == {"main": 2, "backfill": 4}
    assert found.means_s == {"main": 0.001923, "backfill": 0.072699}
    assert found.rpcs == {"REQUEST_JOB_INFO": (100, 0.001731)}
    without = SDIAG.replace("\tMean cycle:   1923\n", "")
    assert diagnosis_of(without).means_s == {"main": 0.0, "backfill": 0.072699}, "the next section's mean is not this one's"


def test_the_mixed_script_has_sixty_jobs_in_order_off_the_edges_of_seconds() -> None:
    actions = mixed(Path("/job"), Path("/log"))
    tasks = Counter({"array": 6, "wide": 4})
    submitted = [action for action in actions if action["argv"][0] == "sbatch"]
    assert sum(tasks[action["name"]] or 1 for action in submitted) == 60
    moments = [action["at"] for action in actions]
    assert moments == sorted(moments)
    assert {round(at % 1, 3) for at in moments} == {0.85}
    assert actions == mixed(Path("/job"), Path("/log"))


def test_the_player_puts_numbers_of_jobs_in_the_places_of_names(tmp_path: Path) -> None:
    many = {"at": 0, "name": "many", "argv": ["sh", "-c", f"echo {{}} >> {tmp_path}/copies; exit 3"], "copies": 5, "width": 2}
    found = play(
        [{"at": 0, "name": "one", "argv": ["echo", "17"]}, many, {"at": 0, "name": "two", "argv": ["expr", "{one}", "+", "1"]}]
    )
    one, copies, two = found["actions"]
    assert (one["printed"], two["printed"]) == ("17\n", "18\n")
    assert (copies["codes"], len(copies["each"])) == ([3] * 5, 5)
    assert sorted((tmp_path / "copies").read_text().split()) == ["1", "2", "3", "4", "5"]
    assert one["began"] >= 0
    assert copies["spent"][0] <= copies["spent"][1]


def test_a_run_is_read_of_what_the_player_wrote() -> None:
    actions: list[dict[str, Any]] = [
        {"name": "burst", "took": 2.0, "codes": [1], "each": [0.1, 0.2, 0.3], "spent": [10.0, 13.5]},
        {"name": "watched", "took": 0.1, "codes": [], "each": [0.1], "printed": SDIAG, "spent": [15.0, 15.25]},
        {"name": "jobs", "took": 0.1, "codes": [], "each": [0.1], "printed": SHOWN},
    ]
    found = read_run(arm="real", script="x", output={"origin": 1000, "actions": actions}, log=LOG, wall_s=1.0, load=(0.0, 0.0))
    assert found.bursts == {"burst": Burst(3, 1, 2.0, pytest.approx(0.2), 0.2, 0.3, 3.5)}
    assert list(found.diagnoses) == ["watched"] and len(found.jobs) == 3
    assert found.diagnoses["watched"].cpu_s == 1.75


def test_the_queue_script_asks_sdiag_around_each_part() -> None:
    names = [action["name"] for action in queue(Path("/job"), Path("/log"), QUICK)]
    assert names == ["filler", "burst", "more", "reset", "watched", "reset-again", "squeue", "asked"]


def test_deviation_is_that_of_means_and_spread_that_of_real_runs() -> None:
    runs = [queue_run("real", 1.0), queue_run("real", 1.5), queue_run("charged", 1.0)]
    assert deviation(runs, "charged", FIGURES[0]) == pytest.approx(-20.0)
    assert spread(runs, FIGURES[0]) == pytest.approx(50.0)
    assert deviation(runs, "modelled", FIGURES[0]) is None


def test_results_are_added_to_a_file_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    first, second = run({"a": 1.5}), queue_run("charged", 1.0)
    add_result(file, first)
    add_result(file, second)
    about, found = read_results(file)
    assert set(about) == {"machine", "date"}
    assert [json.dumps(each.as_json()) for each in found] == [json.dumps(each.as_json()) for each in (first, second)]
    file.write_text("{}")
    with pytest.raises(ValueError, match="simunix fidelity 1"):
        read_results(file)


def test_an_unknown_arm_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(tmp_path / "out.json", tmp_path, ["true:mixed"]) == 2
    assert (
        capsys.readouterr().err
        == "true:mixed: expected ARM:SCRIPT of real, free, charged, paced, modelled and mixed, queue, quick-queue\n"
    )


def test_the_study_shows_the_measured_runs() -> None:
    _, runs = read_results(CHECKOUT / "benchmarks/results/2026-11-23-fidelity.json")
    lines = set((CHECKOUT / "docs/studies/fidelity.md").read_text().splitlines())
    for part in (page.summary, page.verdicts, page.queue, page.moments, page.loads):
        assert set(part(runs)) <= lines
    assert sum(run.arm == "real" and bool(run.jobs) for run in runs) == 3


@pytest.mark.parametrize("file", ["2026-11-25-fidelity-order.json", "2026-11-25-fidelity-10000.json"])
def test_the_study_shows_the_runs_of_a_queue_in_order(file: str) -> None:
    _, runs = read_results(CHECKOUT / "benchmarks/results" / file)
    lines = set((CHECKOUT / "docs/studies/fidelity.md").read_text().splitlines())
    assert set(page.queue(runs)) <= lines


def test_a_queue_is_in_the_order_of_its_jobs_whichever_sbatch_is_first(tmp_path: Path) -> None:
    [burst, more] = [
        action for action in queue(tmp_path / "job", tmp_path / "log") if action["argv"][0] == "sbatch" and "copies" in action
    ]
    priorities = [
        [int(of_copy(action["argv"][-1], number, action["copies"]).removeprefix("--priority=")) for number in (1, 2, 1000)]
        for action in (burst, more)
    ]
    assert priorities == [[2_001_000, 2_000_999, 2_000_001], [1_001_000, 1_000_999, 1_000_001]]


def test_rows_and_page_say_what_is_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        run({"a": 1.0, "b": 20.0}),
        run({"a": 1.1, "b": 21.0}),
        run({"a": 5.0, "b": 20.5}, "charged"),
        queue_run("real", 1.0),
        queue_run("charged", 1.3),
    ]
    found = {row.name: (row.value, row.verdict) for row in [*rows.mixed_rows(runs), *rows.queue_rows(runs, has_aims=True)]}
    assert found["fidelity-charged-beyond"] == (1, "missed")
    assert found["fidelity-burst-charged"] == (pytest.approx(30.0), "missed")
    assert found["fidelity-real-most"] == (1.0, "")
    for each in runs:
        add_result(tmp_path / "results.json", each)
    page.main(tmp_path / "results.json")
    told = capsys.readouterr().out
    assert "| charged 1, real 2 | 2,200 | 3.9 | 1 | 0.0 | 0 | 0 | 0 |" in told
    assert "* charged 1: not within; beyond: a\n" in told
    assert "| a | completed | node1 | 1.00 | 1.10 | 5.00 |" in told
    assert "| back-filler: mean cycle, ms | 90 |  | 117 | +30 |" in told


def test_a_queue_may_have_another_number_of_squeue(tmp_path: Path) -> None:
    actions = script_named("queue=10000").actions(tmp_path / "job", tmp_path / "log")
    copies = {action["name"]: action["copies"] for action in actions if "copies" in action}
    assert copies == {"burst": 1_000, "more": 1_000, "squeue": 10_000}


@pytest.mark.parametrize("word", ["nothing", "queue=", "queue=0", "queue=-3", "queue=many", "queue=1000000", "mixed=10"])
def test_a_script_that_is_none_is_refused_in_a_line(word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(tmp_path / "file", tmp_path / "folder", [f"real:{word}"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"real:{word}: expected") and len(said.splitlines()) == 1
