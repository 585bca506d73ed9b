"""Experiments: their files, their runs, what is kept, the table, and single parameters of slurm.conf."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.results.run_json import sha256_of
from simunix.rjms.scenario import cluster_sections, load
from simunix.rjms.slurm.own_configuration import read_settings
from simunix.rjms.slurm.parameters import with_parameters
from simunix.sweep.experiment import Experiment, load_experiment
from simunix.sweep.runs import Run, check, runs_of
from simunix.sweep.table import is_kept, row_of, users_of, write_table
from tests.conftest import ROOT

SCENARIO = "name: base\nseed: 40\nhosts: [{name: a}]\nprocesses: [{name: p, host: a, command: 'true'}]\n"
BOMB = (
    "a: &a ["
    + ",".join("x" * 9)
    + "]\n"
    + "".join(f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in pairwise("abcdefghi"))
)
EXPERIMENT = """
scenario: base.yaml
set: {until: 1h}
factors:
  network.latency: [1ms, 2ms]
  size:
    small: {network.bandwidth: 1Mbps}
    large: {network.bandwidth: 1Gbps, until: 2h}
repetitions: 3
"""


def experiment(tmp_path: Path, text: str = EXPERIMENT) -> Experiment:
    (tmp_path / "base.yaml").write_text(SCENARIO)
    (tmp_path / "e.yaml").write_text(text)
    return load_experiment(tmp_path / "e.yaml")


def test_every_combination_is_run_as_often_as_asked(tmp_path: Path) -> None:
    runs = runs_of(experiment(tmp_path))
    assert len(runs) == len({run.name for run in runs}) == 12
    assert runs[0].levels == (("network.latency", "1ms"), ("size", "small"))
    assert [run.seed for run in runs[:4]] == [40, 41, 42, 40]
    assert runs[3].overrides == ("until=2h", "network.latency=1ms", "network.bandwidth=1Gbps")
    assert runs[3].name.startswith("latency=1ms_size=large-r0-")
    check(runs)


def test_names_stay_when_levels_are_added(tmp_path: Path) -> None:
    names = {run.name for run in runs_of(experiment(tmp_path))}
    more = {run.name for run in runs_of(experiment(tmp_path, EXPERIMENT.replace("[1ms,", "[5ms, 1ms,")))}
    assert names < more


def test_names_tell_scenarios_apart_where_there_are_several(tmp_path: Path) -> None:
    run = replace(runs_of(experiment(tmp_path))[0], has_siblings=True)
    assert run.name != replace(run, scenario=tmp_path / "copy.yaml").name
    with pytest.raises(SimunixError, match=r"size: small: \S+gone.yaml: No such file"):
        check([run, replace(run, scenario=tmp_path / "gone.yaml")])


def test_seeds_may_be_listed_and_be_the_same(tmp_path: Path) -> None:
    runs = runs_of(experiment(tmp_path, "scenario: base.yaml\nseeds: [7, 7]\n"))
    assert [(run.seed, run.repetition) for run in runs] == [(7, 0), (7, 1)]
    assert runs[0].name != runs[1].name
    (run,) = runs_of(experiment(tmp_path, "scenario: base.yaml\nseed: 3\n"))
    assert (run.seed, run.levels, run.overrides) == (3, (), ())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="ascii")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=5,
)


@given(values)
def test_values_reach_set_as_they_are(value: Any) -> None:
    (run,) = runs_of(Experiment.model_validate({"scenario": "x", "set": {"k": value}, "seed": 0}))
    key, _, text = run.overrides[0].partition("=")
    assert (key, yaml.safe_load(text)) == ("k", value)
    assert not set(run.name) & set(",:\\/")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("factors: {}", r"e\.yaml.*: scenario: missing; add it"),
        ("scenario: gone.yaml", r"e\.yaml:1: scenario: \S+gone\.yaml: no such file; give the base scenario"),
        ("scenario: base.yaml\nfactor: {}", r"e\.yaml:2: factor: unknown key; did you mean 'factors'\?"),
        ("scenario: base.yaml\nfactors: {a: []}", r"e\.yaml:2: factors\.a: expected a list of values, or names"),
        ("scenario: base.yaml\nfactors: {a: [1, 2, 1]}", r"the level 1 is there twice; levels must differ"),
        ("scenario: base.yaml\nfactors: {a: {b: 1}}", r"expected a list of values, or names with what each sets"),
        ("scenario: base.yaml\nrepetitions: 0", r"e\.yaml:2: repetitions: .*greater than or equal to 1, got 0"),
        ("scenario: base.yaml\nrepetitions: 3\nseeds: [1]", "repetitions is 3, but there are 1 seeds; make them agree"),
        ("scenario: base.yaml\nseed: 3\nseeds: [1]", "seed and seeds both say how runs are seeded; keep one"),
        ("scenario: [", r"e\.yaml:1: not YAML"),
        ("7", r"e\.yaml: expected a mapping with the key 'scenario'"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SimunixError, match=words) as caught:
        experiment(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_a_level_that_is_no_scenario_is_named_before_anything_runs(tmp_path: Path) -> None:
    runs = runs_of(experiment(tmp_path, "scenario: base.yaml\nfactors: {network.latency: [1ms, fast]}\n"))
    with pytest.raises(SimunixError, match=r"network\.latency: fast: --set network\.latency=fast: network\.latency: expected"):
        check(runs)
    many = "scenario: base.yaml\nfactors: {a: [" + ",".join(map(str, range(400))) + "], b: [1,2,3]}\nrepetitions: 100"
    with pytest.raises(SimunixError, match="120,000 runs are more than 100,000; leave out some levels"):
        runs_of(experiment(tmp_path, many))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("repetitions: 99999999999\n", "99,999,999,999 runs are more than 100,000"),
        ("seeds: [99999999999999999999999999]\n", "seeds[0]: Input should be less than"),
        ("set: &a {x: *a}\n", "an alias (*NAME) is inside of its own anchor (&NAME); write its content out"),
        ("set: " + "[" * 5000 + "\n", "nested too deeply"),
        (BOMB, "more than 1,000,000 values, aliases written out"),
    ],
)
def test_experiments_without_end(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    (tmp_path / "base.yaml").write_text(SCENARIO)
    (tmp_path / "e.yaml").write_text("scenario: base.yaml\n" + text)
    assert main(["sweep", str(tmp_path / "e.yaml"), "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and len(error) < 400
    assert not (tmp_path / "out").exists()


def test_the_rjms_is_a_factor() -> None:
    """A level takes the section of one RJMS out and brings that of another, on the same hosts."""
    runs = runs_of(load_experiment(ROOT / "scenarios/rjms.experiment.yaml"))
    check(runs)
    scenarios = {dict(run.levels)["rjms"]: load(run.scenario, run.overrides) for run in runs}
    own = {name: [(key, rjms.name) for key, rjms, _ in cluster_sections(one)] for name, one in scenarios.items()}
    assert {"slurm", "gridengine"} <= set(own)
    assert own == {name: [(name, name)] for name in own}
    assert len({str(one.workload) for one in scenarios.values()}) == 1, "all have one workload"
    sections = [next(cluster_sections(one))[2].model_dump() for one in scenarios.values()]
    assert all(section["nodes"] == sections[0]["nodes"] for section in sections)


# The table


def test_a_run_that_never_was_says_why(tmp_path: Path) -> None:
    run, other, *_ = runs_of(experiment(tmp_path))
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / f"{run.name}.log").write_text("warning\nsimunix: t.swf: No such file or directory\n\n")
    assert row_of(tmp_path, run)["failure"] == "t.swf: No such file or directory"
    assert row_of(tmp_path, other)["failure"] == ""


def finished(directory: Path, run: Run, **changes: Any) -> Path:
    folder = directory / "runs" / run.name
    folder.mkdir(parents=True, exist_ok=True)
    record = {
        "ended": "done", "failure": None, "seed": run.seed, "events_sha256": "d1", "deterministic": True, "virtual_s": 9.5,
        "wall_s": 0.1, "inputs": {"scenario": {"path": str(run.scenario), "sha256": sha256_of(run.scenario)}}, "cores": 4,
        **changes,
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(record))
    return folder


def test_a_run_is_kept_only_if_it_is_what_would_be_run(tmp_path: Path) -> None:
    run, other, *_ = runs_of(experiment(tmp_path))
    assert not is_kept(tmp_path, run)
    for changes in ({"ended": "interrupted"}, {"failure": "died"}, {"seed": 99}):
        finished(tmp_path, run, **changes)
        assert not is_kept(tmp_path, run)
    folder = finished(tmp_path, run)
    assert is_kept(tmp_path, run) and not is_kept(tmp_path, other)
    moved = replace(run, scenario=tmp_path / "copy.yaml")
    moved.scenario.write_text(SCENARIO)
    assert moved.name == run.name and not is_kept(tmp_path, moved), "the run of another scenario"
    run.scenario.write_text(SCENARIO + "# changed\n")
    assert not is_kept(tmp_path, run)
    (folder / "run.json").write_text('{"ended": ')
    assert not is_kept(tmp_path, run)


def test_a_row_has_factors_status_and_metrics(tmp_path: Path) -> None:
    run, other, third, *_ = runs_of(experiment(tmp_path))
    folder = finished(tmp_path, run)
    columns = "job_id,submission_time,requested_number_of_resources,requested_time,starting_time,execution_time,finish_time"
    (folder / "jobs.csv").write_text(f"{columns}\n1,0,2,60,10,10,20\n2,0,2,60,,,\n")
    finished(tmp_path, third, failure="no, it died", ended="failed")
    finished(tmp_path, run, rjms="slurm 22.05.8")
    rows = [row_of(tmp_path, each) for each in (other, run, third)]
    write_table(tmp_path / "results.csv", rows)
    with (tmp_path / "results.csv").open() as file:
        missing, done, failed = list(csv.DictReader(file))
    assert (missing["status"], missing["digest"], missing["network.latency"]) == ("missing", "", "1ms")
    assert (done["status"], done["digest"], done["seed"], done["size"]) == ("done", "d1", "40", "small")
    assert (done["rjms_release"], failed["rjms_release"]) == ("slurm 22.05.8", "")
    assert (done["jobs"], done["finished"], done["makespan"], done["utilisation"]) == ("2", "1", "20", "0.25")
    assert (done["mean_waiting_time"], done["mean_slowdown"]) == ("10", "2")
    assert (failed["status"], failed["failure"], failed["makespan"]) == ("failed", "no, it died", "")
    assert list(done)[:6] == ["run", "network.latency", "size", "repetition", "seed", "status"]


def test_users_and_contexts_are_in_the_tables(tmp_path: Path) -> None:
    run, other, *_ = runs_of(experiment(tmp_path))
    columns = "job_id,workload_name,submission_time,requested_number_of_resources,starting_time,finish_time,user"
    text = f"{columns}\n1,w,0,2,0,10,user1\n2,w,0,2,10,20,user1\n3,w,5,2,10,30,user2\n"
    context = {"workload": "w", "running": [1], "waiting": [], "reasons": ["too late"]}
    for each, valid in ((run, True), (other, False)):
        (finished(tmp_path, each, contexts=[context], valid=valid) / "jobs.csv").write_text(text)
    row, users = row_of(tmp_path, run), users_of(tmp_path, run)
    assert (row["jobs"], row["users"], row["mean_waiting_time"], row["valid"]) == (2, 2, 7.5, True)
    assert row["user_fairness_waiting_time"] == 15.0**2 / (2 * (100 + 25))
    assert [(user["user"], user["jobs"], user["mean_waiting_time"]) for user in users] == [("user2", 1, 5), ("user1", 1, 10)]
    assert (users[0]["run"], users[0]["size"]) == (run.name, "small")
    invalid = row_of(tmp_path, other)
    assert (invalid["valid"], "jobs" in invalid) == (False, False)
    assert invalid["failure"] == "no metrics: INVALID, its context was not established: too late"
    assert users_of(tmp_path, other) == []


def test_the_command_line_says_what_does_not_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").touch()
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier/.simunix-sweep").touch()
    for arguments, words in (
        (["-o", tmp_path / "full"], "exists and is not an earlier sweep's folder"),
        (["-o", tmp_path / "earlier"], "has a sweep already; go on with --resume, or choose another name"),
        (["-o", tmp_path / "new", "--workers", "0"], "--workers: expected at least 1, got 0"),
        (["-o", tmp_path / "new", "--workers", "2", "--scheduler", "tcp://a:1"], "the scheduler has its own workers"),
    ):
        assert main(["sweep", str(tmp_path / "e.yaml"), *map(str, arguments)]) == 2
        said = capsys.readouterr().err
        assert words in said and said.count("\n") == 1
    assert main(["schema", "--experiment"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert {"scenario", "factors", "repetitions", "seeds"} <= set(schema["properties"])


# slurm.conf


CONF = "ClusterName=c\nschedulertype=sched/backfill\nSchedulerType=sched/other # again\nPartitionName=p Nodes=n1\n"


def test_parameters_stand_where_they_stood() -> None:
    text = with_parameters(CONF, {"SchedulerType": "sched/builtin", "PriorityType": "priority/multifactor"}, "slurm")
    assert text == ("ClusterName=c\nSchedulerType=sched/builtin\nPartitionName=p Nodes=n1\nPriorityType=priority/multifactor\n")
    assert with_parameters(CONF, {"schedulerType": None}, "slurm") == "ClusterName=c\nPartitionName=p Nodes=n1\n"
    assert with_parameters(CONF, {}, "slurm") == CONF


@pytest.mark.parametrize("name", ["PartitionName", "nodename", "Include", "A B", "", "X=1"])
def test_lines_of_which_there_are_many_are_no_parameters(name: str) -> None:
    with pytest.raises(SimunixError, match=r"slurm\.parameters\.\S*.*: not a single parameter of slurm\.conf"):
        with_parameters(CONF, {name: 1}, "slurm")
    with pytest.raises(SimunixError, match="given twice"):
        with_parameters(CONF, {"Abc": 1, "aBC": 2}, "slurm")


@given(
    st.dictionaries(
        st.from_regex(r"[A-Z][a-z]{2,6}", fullmatch=True), st.integers() | st.booleans() | st.text("ab/", min_size=1)
    )
)
def test_slurm_reads_what_was_given(parameters: dict[str, Any]) -> None:
    settings = read_settings(with_parameters(CONF, parameters, "slurm"))
    for name, value in parameters.items():
        assert (
            settings[name.lower()] == {True: "YES", False: "NO"}.get(value, str(value))
            if isinstance(value, bool)
            else str(value)
        )


def test_the_guides_example_is_an_experiment(tmp_path: Path) -> None:
    text = (ROOT / "docs/guide/experiments.md").read_text().partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "e.yaml").write_text(text.replace("scenarios/", f"{ROOT}/scenarios/"))
    runs = runs_of(load_experiment(tmp_path / "e.yaml"))
    check(runs)
    assert len(runs) == 2 * 3 * 2 * 3
