"""Generated workloads against what was published of their models: tables, and moments in closed form."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.workload.formats.batsim import read_workload
from simunix.workload.formats.by_name import read_trace
from simunix.workload.formats.provenance import history
from simunix.workload.generators import esp, io_mix, lublin, raijin

FEW = settings(max_examples=20, deadline=None)
COUNT = 40_000
SIGMAS = 5.0
"""How many standard errors a moment may be away: one in 1.7 million fails by chance, and the seeds are fixed."""
TYPES = pytest.mark.parametrize(
    "kind", [lublin.ALL_ALIKE, lublin.BATCH, lublin.INTERACTIVE], ids=["one", "batch", "interactive"]
)


def is_near(values: np.ndarray, mean: float, variance: float) -> bool:
    return abs(values.mean() - mean) <= SIGMAS * math.sqrt(variance / len(values))


# ESP


@pytest.mark.parametrize("kind", ["lublin", "uniform", "mira"])
@pytest.mark.parametrize("jobs", ["0", "-1", "99999999999"])
def test_more_jobs_than_memory_holds_or_none(kind: str, jobs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workload", "generate", kind, "--seed", "1", "--jobs", jobs, "-o", str(tmp_path / "x.swf")]) == 2
    assert f"jobs {jobs}: expected at least 1, and at most 10,000,000" in capsys.readouterr().err


def test_esp_has_its_230_jobs() -> None:
    assert sum(kind.count for kind in esp.JOB_TYPES) == 230
    assert len(esp.JOB_TYPES) == 14


def test_light_esp_takes_935_seconds_on_a_full_machine() -> None:
    """The number that Georgiou and Glesser print follows from the fractions of the table, to the digit."""
    assert esp.ideal_s(light=True) == pytest.approx(935.2, abs=0.05)


def test_sizes_are_rounded_as_esps_scripts_do() -> None:
    """Half a core or more is one."""
    made = esp.esp(180, seed=1, light=True).jobs
    sizes = made.groupby("executable")["requested"].first().tolist()
    assert sizes == [6, 11, 90, 45, 90, 11, 23, 28, 6, 11, 17, 23, 45, 180]
    assert (made["requested_s"] == np.floor(1.5 * made["runtime_s"])).all()


@FEW
@given(st.integers(4, 100_000), st.integers(0, 2**32), st.booleans())
def test_any_machine_gets_the_mix(processors: int, seed: int, light: bool) -> None:
    made = esp.esp(processors, seed, light).jobs
    assert made["executable"].value_counts().sort_index().tolist() == [kind.count for kind in esp.JOB_TYPES]
    assert made["requested"].between(1, processors).all()
    assert (made["requested"] == processors).sum() >= 2
    assert made["submit_s"].is_monotonic_increasing
    whole = made[made["queue"] == esp.URGENT_QUEUE]
    assert whole.index.tolist() == [76, 153]
    assert (whole["requested"] == processors).all()


def test_esp_arrivals() -> None:
    gaps = np.diff(esp.esp(64, seed=2).jobs["submit_s"])
    assert (gaps[:49] == 6.0).all()
    assert gaps[49] > 60
    assert is_near(gaps[50:], 6.0, 1.0)


# Lublin and Feitelson


@TYPES
def test_sizes(kind: lublin.Parameters) -> None:
    """Serial jobs, powers of two, and the mean of log2 of the two-stage uniform distribution."""
    size = lublin.sizes(np.random.default_rng(1), COUNT, kind)
    assert is_near(size == 1, kind.serial, kind.serial * (1 - kind.serial))
    assert size.max() <= round(2**kind.high)
    # Powers of two, by rounding u: the probability of each from the distribution function of u.
    edges = np.arange(0, math.floor(kind.high + 0.5) + 1) + 0.5
    below = np.clip((np.clip(edges, kind.low, kind.med) - kind.low) / (kind.med - kind.low), 0, 1) * kind.low_share
    below += np.clip((edges - kind.med) / (kind.high - kind.med), 0, 1) * (1 - kind.low_share)
    for power in range(1, len(edges)):
        least = kind.power_of_2 * (below[power] - below[power - 1])  # jobs of this size, if no other job had it by chance
        low, high = math.log2(2**power - 0.5), math.log2(2**power + 0.5)
        chance = np.interp([low, high], [kind.low, kind.med, kind.high], [0, kind.low_share, 1])
        share = least + (1 - kind.serial - kind.power_of_2) * (chance[1] - chance[0])
        assert is_near(size == 2**power, share, share * (1 - share))


def truncated_gamma(shape: float, scale: float, power: int) -> float:
    """E[X^power; X <= 12], from the incomplete gamma function."""
    moment = (
        scale**power * math.gamma(shape + power) / math.gamma(shape)
        if shape < 150
        else scale**power * math.prod(shape + k for k in range(power))
    )
    return moment * float(stats.gamma.cdf(lublin.LONGEST_LOG_RUNTIME, shape + power, scale=scale))


@TYPES
@pytest.mark.parametrize("size", [1, 16, 100])
def test_run_times_are_hyper_gamma(kind: lublin.Parameters, size: int) -> None:
    """Mean and second moment of ln(run time), in closed form, at sizes where both gammas and the bounds of p matter."""
    logs = lublin.log_runtimes(np.random.default_rng(2), np.full(COUNT, size), kind)
    share = min(max(kind.pa * size + kind.pb, 0.0), 1.0)

    def moment(power: int) -> float:
        first, second = truncated_gamma(kind.a1, kind.b1, power), truncated_gamma(kind.a2, kind.b2, power)
        return share * first + (1 - share) * second

    mean, square, fourth = moment(1) / moment(0), moment(2) / moment(0), moment(4) / moment(0)
    assert is_near(logs, mean, square - mean**2)
    assert is_near(logs**2, square, fourth - square**2)
    assert logs.max() <= lublin.LONGEST_LOG_RUNTIME


@TYPES
def test_arrivals_follow_the_day(kind: lublin.Parameters) -> None:
    """Jobs per half hour are as the model's cycle has them: a half hour of twice the weight takes half the time per point."""
    cycle = lublin.day_cycle(kind)
    assert cycle.mean() == pytest.approx(1.0)
    moments = lublin.arrivals(np.random.default_rng(3), COUNT, kind)
    assert (np.diff(moments) >= 0).all()
    slots = np.floor(moments % 86400 / 1800).astype(int)
    days = math.ceil(moments[-1] / 86400)
    counts = np.bincount(slots, minlength=48) / COUNT * 48
    assert np.corrcoef(counts, cycle)[0, 1] > 0.97, days
    busiest = np.argsort(cycle)[-16:]
    assert abs(counts[busiest].sum() - cycle[busiest].sum()) < 0.08 * cycle[busiest].sum()


@TYPES
def test_mean_interval(kind: lublin.Parameters) -> None:
    """E[exp(X); X <= 13] of a gamma variable X, seconds per job, over whole days: the cycle's mean is 1."""
    shape, scale, most = kind.aarr * kind.arar, kind.barr, lublin.LONGEST_LOG_INTERVAL
    whole = stats.gamma.cdf(most, shape, scale=scale)
    mean = (1 - scale) ** -shape * stats.gamma.cdf(most, shape, scale=scale / (1 - scale)) / whole
    square = quad(lambda x: math.exp(2 * x) * stats.gamma.pdf(x, shape, scale=scale), 0, most)[0] / whole
    moments = lublin.arrivals(np.random.default_rng(4), COUNT, kind)
    assert abs(moments[-1] / COUNT - mean) <= SIGMAS * math.sqrt((square - mean**2) / COUNT) + 86400 / COUNT


def test_first_arrivals_by_hand() -> None:
    """The program's loop, which pays one half hour after the other, against the inverse of the cumulated points."""
    kind = lublin.ALL_ALIKE
    fast = lublin.arrivals(np.random.default_rng(5), 500, kind)
    logs = np.random.default_rng(5).gamma(kind.aarr * kind.arar, kind.barr, 500)
    assert logs.max() < lublin.LONGEST_LOG_INTERVAL
    weights, slot, points, passed = lublin.day_cycle(kind), 0, 0.0, 0.0
    for log, expected in zip(logs, fast, strict=True):
        points += math.exp(log) / 1800
        while points > weights[slot]:
            points -= weights[slot]
            slot = (slot + 1) % 48
            passed += 1800
        assert passed + 1800 * points / weights[slot] == pytest.approx(expected, rel=1e-9, abs=1e-3)


def test_types_and_machines() -> None:
    both = lublin.lublin(3000, 128, 1).jobs
    assert set(both["queue"]) == {0, 1}
    assert both["submit_s"].is_monotonic_increasing
    assert lublin.lublin(3000, 4096, 1, "one").jobs["requested"].max() == 4096
    with pytest.raises(SimunixError, match="processors 32: this model needs at least 33"):
        lublin.lublin(10, 32, 1)


# Barberato


def test_raijins_classes_are_the_published_tables() -> None:
    """Tables 4.1 and 4.2 of the thesis, in percent, and what its text says of large jobs."""
    jobs = {kind.processors: kind.jobs for kind in raijin.CLASSES}
    work = {kind.processors: kind.work for kind in raijin.CLASSES}
    assert jobs.items() >= {1: 49, 2: 11, 4: 5, 8: 7, 16: 8, 48: 4, 64: 6}.items()
    assert work.items() >= {64: 16.0, 128: 11.2, 320: 6.3, 256: 6.2, 16: 5.2, 512: 4.4, 8: 4.3, 1: 1.6}.items()
    assert sum(jobs.values()) == pytest.approx(100) and sum(work.values()) == pytest.approx(100, abs=0.2)
    assert sum(share for size, share in jobs.items() if size > 1000) == pytest.approx(1.2)
    assert sum(kind.jobs * raijin.mean_s(kind) for kind in raijin.CLASSES) == pytest.approx(100 * 128.1)


def test_a_large_raijin_has_the_shares_of_jobs_work_and_requests() -> None:
    made = raijin.raijin(COUNT, 57472, seed=1).jobs
    work = made["requested"] * made["runtime_s"]
    for kind in raijin.CLASSES:
        own = made["requested"] == kind.processors
        assert own.mean() == pytest.approx(kind.jobs / 100, abs=1 / COUNT)
        assert work[own].sum() / work.sum() == pytest.approx(kind.work / 100, rel=0.05)
    assert made["runtime_s"].mean() == pytest.approx(128.1, rel=0.01)
    ratio = made["runtime_s"] / made["requested_s"]
    assert (ratio <= 0.1).mean() == pytest.approx(0.58, abs=0.02)  # requests are whole seconds
    assert (ratio > 0.9).mean() == pytest.approx(0.007, abs=0.002)


@FEW
@given(st.integers(1, 500), st.integers(1, 5000), st.integers(0, 2**32), st.floats(0.01, 10), st.floats(0, 1))
def test_any_raijin(jobs: int, processors: int, seed: int, scale: float, high: float) -> None:
    made = raijin.raijin(jobs, processors, seed, scale, load=2, high_share=high).jobs
    assert made["requested"].between(1, max(1, 0.348 * processors)).all()
    assert made["runtime_s"].min() >= 1 and (made["requested_s"] >= made["runtime_s"]).all()
    assert (made["queue"] == raijin.HIGH).sum() == math.floor(high * jobs + 0.5)
    assert np.ptp(np.diff(made["submit_s"], append=np.nan)[:-1]) <= 0.0021 if jobs > 2 else True
    work_s = (made["requested"] * made["runtime_s"]).sum() / processors
    assert made["submit_s"].max() == pytest.approx(work_s / 2 * (jobs - 1) / jobs, abs=0.001)


@FEW
@given(st.integers(0, 1000), st.lists(st.floats(0.01, 100), min_size=1, max_size=9))
def test_quotas_add_up_and_are_near(count: int, shares: list[float]) -> None:
    found = raijin.quotas(count, shares)
    assert sum(found) == count
    assert all(abs(each - count * share / sum(shares)) < 1 + 1e-6 for each, share in zip(found, shares, strict=True))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"jobs": 0}, "jobs 0: expected at least 1"),
        ({"scale": 0.0}, "scale 0: expected a number above 0"),
        ({"load": math.inf}, "load inf: expected a number above 0"),
        ({"high_share": 1.5}, "high share 1.5: expected a number from 0 to 1"),
    ],
)
def test_no_raijin_without_sense(changes: dict[str, float], words: str) -> None:
    with pytest.raises(SimunixError, match=words):
        raijin.raijin(**{"jobs": 5, "processors": 8, "seed": 1, **changes})  # type: ignore[arg-type]


# Vidal


def test_truncated_normals_have_the_means_that_the_thesis_prints() -> None:
    shares = io_mix._io_shares(np.random.default_rng(6), COUNT, None, 1.0)
    assert shares.mean() == pytest.approx(0.2894, abs=0.005)
    assert io_mix._io_shares(np.random.default_rng(6), COUNT, None, 0.0).mean() == pytest.approx(0.7106, abs=0.005)


@FEW
@given(st.floats(3, 2000))
def test_size_weights_have_their_mean(mean: float) -> None:
    weights = io_mix.size_weights(mean)
    assert weights.sum() == pytest.approx(1)
    assert weights @ io_mix.UNIFORM_SIZES == pytest.approx(mean, rel=1e-3)


def test_uniform_mix() -> None:
    mix = io_mix.uniform(seed=1, jobs=2000)
    assert mix.compute_s.min() >= 10
    assert mix.compute_s.max() <= 100
    assert set(mix.nodes) <= set(io_mix.UNIFORM_SIZES)
    assert (mix.io_s <= mix.compute_s).all()
    assert 1000 <= mix.iterations.min() <= mix.iterations.max() <= 10000
    assert mix.load == pytest.approx(1.0, rel=0.2)  # what the sizes' mean aims at
    assert 100 <= len(io_mix.uniform(seed=2).nodes) <= 500


def test_mira_mix() -> None:
    mix = io_mix.mira(seed=1, jobs=COUNT)
    blocks = np.arange(512, 49153, 512)
    weights = np.exp(-1.35e-4 * blocks) / np.exp(-1.35e-4 * blocks).sum()
    assert is_near(mix.nodes, weights @ blocks, weights @ blocks**2 - (weights @ blocks) ** 2)
    alone = mix.iterations * (mix.compute_s + mix.io_s * 49152 / mix.nodes)
    for least, most, median in ((0, 4096, 3600), (4096, 16384, 8100), (16384, 49153, 1800)):
        chosen = alone[(mix.nodes >= least) & (mix.nodes < most)]
        assert np.median(chosen) == pytest.approx(median, rel=0.01)


# The command, and provenance

KINDS = {
    "curie": ["--nodes", "16", "--duration", "2h"],
    "esp2": ["--processors", "64"],
    "light-esp": ["--processors", "64"],
    "raijin": ["--jobs", "50", "--processors", "64"],
    "lublin": ["--jobs", "200"],
    "uniform": ["--jobs", "10", "--ratio", "0.4"],
    "mira": ["--jobs", "10"],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["swf", "swf.gz", "json"])
def test_generate_is_seeded_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, kind: str, ending: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        Path(folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        assert main(["workload", "generate", kind, *KINDS[kind], "--seed", seed, "-o", f"w.{ending}"]) == 0
        monkeypatch.chdir(tmp_path)
    first, again, other = (Path(folder, f"w.{ending}").read_bytes() for folder in "abc")
    assert first == again
    assert first != other
    made, by = history(read_trace(Path("a", f"w.{ending}")))
    assert f"model={kind} " in made
    assert "seed=7" in made
    assert by.endswith(f"simunix workload generate {kind} {' '.join(KINDS[kind])} --seed 7 -o w.{ending}")
    assert " jobs for " in capsys.readouterr().out


def test_history_goes_through_every_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    steps = [
        ["generate", "lublin", "--jobs", "300", "--seed", "1", "-o", "a.swf.xz"],
        ["scale", "a.swf.xz", "b.swf", "--times", "0.5"],
        ["shuffle", "b.swf", "c.json"],
        ["merge", "c.json", "a.swf.xz", "-o", "d.swf"],
    ]
    for step in steps:
        assert main(["workload", *step]) == 0
    lines = history(read_trace(Path("d.swf")))
    assert [line.rpartition(": simunix ")[2] for line in lines if line.startswith("made by")] == [
        "workload " + " ".join(step) for step in steps
    ]
    sources = [line.split()[2] for line in lines if line.startswith("made from")]
    assert sources == ["a.swf.xz", "b.swf", "c.json", "a.swf.xz"]


def test_batsim_of_an_io_mix(tmp_path: Path) -> None:
    assert (
        main(
            ["workload", "generate", "mira", "--jobs", "5", "--seed", "1", "--bandwidth", "1e6", "-o", str(tmp_path / "m.json")]
        )
        == 0
    )
    workload = read_workload(tmp_path / "m.json")
    assert workload.nb_res == 49152
    job = workload.profiles[workload.jobs[0].profile]
    assert job["type"] == "SequentialCompositionProfile"
    io = workload.profiles[job["seq"][1]]
    mix = io_mix.mira(1, 5)
    assert io["bytes_to_write"] == round(float(mix.io_s[0]) * 1e6)
    assert job["repeat"] == mix.iterations[0]
    assert "provenance" in json.loads((tmp_path / "m.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["esp2", "--processors", "3", "--seed", "1"], "processors 3: ESP's mix needs at least 4"),
        (["lublin", "--jobs", "0", "--seed", "1"], "jobs 0: expected at least 1"),
        (["lublin", "--jobs", "1", "--seed", "-1"], "--seed -1: expected a number from 0 up"),
        (["mira", "--jobs", "0", "--seed", "1"], "jobs 0: expected at least 1"),
        (["mira", "--ratio", "2", "--seed", "1"], "ratio 2: expected between 0 and 1"),
        (["mira", "--low-share", "nan", "--seed", "1"], "low share nan: expected between 0 and 1"),
        (["uniform", "--saturation", "0", "--seed", "1"], "saturation 0: expected a number above 0"),
    ],
)
def test_bad_parameters(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(["workload", "generate", *arguments, "-o", str(tmp_path / "w.swf")]) != 0
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_run_is_a_source_too(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/jobs.csv").write_text(
        "job_id,workload_name,submission_time,starting_time,finish_time,execution_time,requested_number_of_resources,"
        "requested_time,final_state,allocated_resources,metadata\n1,w,0,1,2,1,4,60,COMPLETED,n1,\n"
    )
    (tmp_path / "out/run.json").write_text("{}")
    assert main(["workload", "convert", str(tmp_path / "out"), str(tmp_path / "run.swf")]) == 0
    assert "made from: jobs.csv (sha256 " in (tmp_path / "run.swf").read_text()
