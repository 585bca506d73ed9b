"""The Curie-like workload against the quantiles that Emeras published, and what must hold on machines of any size."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simunix.cli.main import main
from simunix.workload.formats.by_name import read_trace
from simunix.workload.generators import curie
from simunix.workload.generators.curie import Curie
from simunix.workload.transforms.context import context_of, cut_with_context

FEW = settings(max_examples=15, deadline=None)
WHOLE = Curie(5040, 16, 14 * 86400.0, 0.5, 100)
"""Some 17,000 jobs."""
SIGMAS = 5.0


@pytest.fixture(scope="module")
def jobs() -> dict[str, np.ndarray]:
    frame = curie.curie(WHOLE, 1).jobs
    return {str(name): frame[name].to_numpy() for name in frame}


@pytest.mark.parametrize(
    ("column", "value", "share"),
    [
        *(("allocated", size, share) for size, share in ((16.5, 0.3), (128.5, 0.7), (256.5, 0.8), (512.5, 0.9))),
        *(("runtime_s", limit, share) for limit, share in ((60, 0.68), (600, 0.81), (1200, 0.82), (3600, 0.87))),
        ("requested_s", 7200, 0.25),
    ],
)
def test_published_quantiles(jobs: dict[str, np.ndarray], column: str, value: float, share: float) -> None:
    """Run times that are cut at an hour of the machine, and requests raised to run times, move them by a few per mille."""
    found = float((jobs[column] <= value).mean())
    assert abs(found - share) <= 0.005 + SIGMAS * math.sqrt(share * (1 - share) / len(jobs[column]))


def test_sizes_have_their_median_and_mode(jobs: dict[str, np.ndarray]) -> None:
    sizes, counts = np.unique(jobs["allocated"], return_counts=True)
    assert np.median(jobs["allocated"]) == 32 == sizes[counts.argmax()]
    assert 70_000 < sizes[-1] <= curie.CURIE_PROCESSORS


def test_gaps_keep_their_shape(jobs: dict[str, np.ndarray]) -> None:
    """Deciles of the inter-arrival times, divided by their mean, which is 69 s in the log: 773,138 jobs in 20 months."""
    shares = (np.arange(1_000_000) + 0.5) / 1_000_000
    mean = curie.quantile(curie.GAPS_S, shares).mean()
    assert mean == pytest.approx(20 * 365.25 / 12 * 86400 / 773_138, rel=0.02)
    gaps = np.diff(jobs["submit_s"])
    deciles = np.quantile(gaps, [0.3, 0.5, 0.7, 0.8, 0.9]) / gaps.mean() * mean
    assert deciles == pytest.approx([1, 4, 8, 28, 80], rel=0.25, abs=mean / gaps.mean())


def test_load(jobs: dict[str, np.ndarray]) -> None:
    work = (jobs["allocated"] * jobs["runtime_s"]).sum() / (WHOLE.processors * WHOLE.duration_s)
    assert WHOLE.load <= work <= WHOLE.load + curie.LARGEST_WORK_S / WHOLE.duration_s


@FEW
@given(
    st.builds(Curie, st.integers(1, 2000), st.integers(1, 64), st.floats(1, 40_000), st.floats(0.01, 3), st.integers(1, 20)),
    st.integers(0, 2**32),
)
def test_any_machine(asked: Curie, seed: int) -> None:
    trace = curie.curie(asked, seed)
    made = trace.jobs
    assert made["allocated"].between(1, asked.processors).all()
    assert (made["requested"] == made["allocated"]).all()
    assert made["submit_s"].between(0, asked.duration_s).all()
    assert made["submit_s"].is_monotonic_increasing
    assert made["user"].between(1, asked.users).all()
    assert (made["runtime_s"] >= 1).all()
    assert (made["requested_s"] >= made["runtime_s"]).all()
    assert (made["requested_s"] % 60 == 0).all()
    assert (made["wait_s"] >= 0).all()
    assert (trace.number("MaxNodes"), trace.number("MaxProcs")) == (asked.nodes, asked.processors)
    start = made["submit_s"] + made["wait_s"]
    changes = np.concatenate([made["allocated"], -made["allocated"]])
    order = np.lexsort((changes, np.concatenate([start, start + made["runtime_s"]])))  # ends before starts
    assert np.cumsum(changes[order]).max() <= asked.processors


@FEW
@given(st.integers(0, 1000), st.floats(0.1, 0.9))
def test_a_window_with_context_can_be_cut_anywhere(seed: int, share: float) -> None:
    """The machine is never full beyond itself at T0, so the context can be restored on it."""
    asked = Curie(32, 16, 12 * 3600.0, 1.5, 10)
    trace = curie.curie(asked, seed)
    begin = share * asked.duration_s
    made = cut_with_context(trace, begin, begin + 7200)
    context = context_of(made.comments)
    assert context is not None
    sizes = made.jobs.set_index("job")["requested"]
    assert sizes[list(context.running)].sum() <= asked.processors


def test_what_the_header_says(tmp_path: Path) -> None:
    path = tmp_path / "c.swf"
    assert main(["workload", "generate", "curie", "--nodes", "8", "--duration", "1h", "--seed", "3", "-o", str(path)]) == 0
    header = "\n".join(read_trace(path).comments)
    for words in (
        "made with: model=curie nodes=8 cores=16 duration_s=3600 load=1.5 users=100 seed=3",
        "MaxNodes: 8",
        "MaxProcs: 128",
        "synthetic: from quantiles of Curie's log",
        "thesis: sizes 30% <= 16",
        "ours: everything between and beyond these points",
    ):
        assert words in header


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nodes", "0"], "nodes 0: expected at least 1"),
        (["--cores", "-3"], "cores -3: expected at least 1"),
        (["--users", "0"], "users 0: expected at least 1"),
        (["--load", "0"], "load 0: expected a number above 0, such as 1.5"),
        (["--load", "nan"], "load nan: expected a number above 0"),
        (["--load", "inf"], "load inf: expected a number above 0"),
        (["--duration", "0s"], "duration 0 s: expected at least 1 s"),
        (["--duration", "soon"], "--duration: expected a duration"),
        (["--duration", "10000d", "--load", "9"], "load 9 for 8.64e+08 s: more than 1,000,000 jobs; ask for less"),
        (["--seed", "-1"], "--seed -1: expected a number from 0 up"),
    ],
)
def test_bad_parameters(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    words = ["workload", "generate", "curie", "--seed", "1", *arguments, "-o", str(tmp_path / "w.swf")]
    assert main(words) != 0
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())
