"""Pictures of power, states, GPUs, storages, links and users: which there are, what they draw, and where their legends lie."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rsg_server.network.usage import COLUMNS as LINK_COLUMNS
from rsg_server.storage.usage import COLUMNS as STORAGE_COLUMNS
from simunix.cli.main import main
from simunix.report.comparison import Comparison
from simunix.report.resource_figures import STATES, resource_figures
from simunix.report.run_data import read_run, unique_labels
from tests.unit.simunix.report import runs
from tests.unit.simunix.report.test_report import data_of

POWER = "time,watts,cap\n0,400,\n10,900,1000\n60,400,\n"
STORAGES = ("0,10,n1/a,5000000,0,1,1,0.5", "0,10,n1/b,5000000,0,1,1,0.5", "10,10,n1/a,0,20000000,1,1,1")
LINKS = ("0,a_UP,1000,100,0.5", "10,b_UP,500,50,0.25")
JOBS = [
    replace(runs.ran(1, 0.0, 10.0, 60.0, "node0001"), user="alice", allocated_gpus=2),
    replace(runs.ran(2, 5.0, 60.0, 90.0, "node0001"), user="bob"),
]


def whole(folder: Path) -> Path:
    """A run that has everything that can be drawn."""
    made = runs.write_run(folder, JOBS, 1)
    (made / "power.csv").write_text(POWER)
    (made / "storages.csv").write_text("\n".join([",".join(STORAGE_COLUMNS), *STORAGES]) + "\n")
    (made / "links.csv").write_text("\n".join([",".join(LINK_COLUMNS), *LINKS]) + "\n")
    return made


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    return Comparison([read_run(whole(tmp_path / name), name) for name in ("one", "two")])


def drawn(comparison: Comparison, name: str) -> Any:
    """The figure of a picture, laid out as it is saved."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8.0, 3.6), layout="constrained")
    resource_figures(comparison, lambda kind, number: f"{kind}-{number}")[name](axes)
    figure.canvas.draw()
    pyplot.close(figure)
    return figure


def test_everything_that_the_page_draws_is_a_picture(comparison: Comparison, tmp_path: Path) -> None:
    each = ("states", "storages", "links")
    expected = {"power", "gpus", "users", *(f"{kind}-{number}" for kind in each for number in (0, 1))}
    assert set(resource_figures(comparison, lambda kind, number: f"{kind}-{number}")) == expected
    plain = Comparison([read_run(runs.write_run(tmp_path / "plain", runs.rows(3, 2), 2))])
    assert resource_figures(plain, lambda kind, number: kind) == {}


@pytest.mark.parametrize("name", ["power", "gpus", "users", "states-0", "storages-0"])
def test_legends_lie_outside_of_the_curves(comparison: Comparison, name: str) -> None:
    figure = drawn(comparison, name)
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert all(not box.overlaps(axes.get_window_extent()) for axes in figure.axes)


def test_power_and_caps_of_two_runs(comparison: Comparison) -> None:
    (axes,) = drawn(comparison, "power").axes
    assert [line.get_label() for line in axes.lines] == ["one", "two", "cap of one", "cap of two"]
    assert axes.get_ylabel() == "power, kW" and max(axes.lines[0].get_ydata()) == 0.9
    assert axes.lines[0].get_linewidth() > axes.lines[1].get_linewidth()  # the runs are equal: both curves can be seen


def test_reads_and_writes_are_apart(comparison: Comparison) -> None:
    read, written, used = drawn(comparison, "storages-0").axes
    assert (read.get_ylabel(), written.get_ylabel(), used.get_ylabel()) == ("read, MB/s", "written, MB/s", "used bandwidth, %")
    assert [max(line.get_ydata()) for line in read.lines] == [0.5, 0.5]
    assert [max(line.get_ydata()) for line in written.lines] == [2.0, 0.0]


def test_states_are_bands_with_names(comparison: Comparison) -> None:
    figure = drawn(comparison, "states-0")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [f"cores that {state}" for state in STATES]


def test_the_page_has_gpus_and_links(tmp_path: Path) -> None:
    folder = whole(tmp_path / "one")
    assert main(["report", str(folder), "-o", str(tmp_path / "r.html")]) == 0
    text = (tmp_path / "r.html").read_text()
    assert all(f'id="{name}"' in text for name in ("gpus", "links-0", "read-0", "written-0"))
    data = data_of(text)
    assert max(data["gpus"]["y"][0]) == 2
    assert data["links"][0] == {"names": ["a_UP", "b_UP"], "x": [0, 10, 20], "y": [[50, 0, 0], [0, 25, 0]], "total": 2}


def test_runs_of_a_sweep_are_called_by_their_levels() -> None:
    name = "latency=1ms-r{}-0123abcd".format
    assert unique_labels([Path(f"/a/{name(0)}"), Path("/a/latency=2ms-r0-89abcdef")]) == ["latency=1ms", "latency=2ms"]
    assert unique_labels([Path(f"/a/{name(0)}"), Path(f"/a/{name(11)}")]) == ["latency=1ms-r0", "latency=1ms-r11"]
    assert unique_labels([Path("/a/r0-0123abcd"), Path("/a/r1-0123abcd")]) == ["r0", "r1"]
    assert unique_labels([Path("/a/x-0123abcd")]) == ["x-0123abcd"]


@pytest.mark.slow
def test_files_have_the_names_of_the_runs(tmp_path: Path) -> None:
    folder, figures = whole(tmp_path / "a=1-r0-0123abcd"), tmp_path / "figures"
    assert main(["report", str(folder), "-o", str(tmp_path / "r.html"), "--figures", str(figures), "--format", "pdf"]) == 0
    assert {"power.pdf", "states-a-1.pdf", "gantt-a-1.pdf", "links-a-1.pdf"} <= {path.name for path in figures.iterdir()}
