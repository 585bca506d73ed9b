"""The picture of a run that `simunix top` draws."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from simunix.view.model import Model
from simunix.view.overview import JOBS_PLAIN, Overview, clock_text


def text_of(overview: Overview, rows: int = 0, *, is_live: bool = False) -> str:
    console = Console(width=120, force_terminal=False)
    with console.capture() as captured:
        console.print(overview.draw(rows, is_live=is_live))
    return captured.get()


@pytest.fixture
def overview() -> Overview:
    model = Model({"name": "taught"})
    model.set_clock(virtual_s=90061.5, paused=False, pace=10.0, speed=9.7)
    model.set_status("running")
    for node in ("n1", "n2", "n3"):
        model.set_host(node, "off" if node == "n3" else "on", 3)
    model.set_job("7", lambda job: replace(job, state="RUNNING", submitted_s=1.0, started_s=90000.0, nodes="n[1-2]", cores=4))
    model.set_job("8", lambda job: replace(job, submitted_s=90001.5))
    model.set_job("6", lambda job: replace(job, state="[red]DONE", submitted_s=0.0, started_s=1.0, ended_s=2.0, nodes="n1"))
    overview = Overview(model, ["n1", "n2", "n3"])
    overview.take()
    return overview


def test_clock_nodes_and_queue_are_told(overview: Overview) -> None:
    head, counts, *rows = (line.split() for line in text_of(overview).splitlines())
    assert " ".join(head) == "taught 1 d 01:01:01 running, × 10, pace 10"
    assert " ".join(counts) == "3 nodes, 2 busy, 1 off; 1 jobs running, 1 waiting, 1 ended"
    assert rows[1:] == [
        ["n1", "on", "3", "1", "8", "PENDING", "00:01:00"],
        ["n2", "on", "3", "1", "7", "RUNNING", "00:01:01", "4", "n[1-2]"],
        ["n3", "off", "3"],
    ]


def test_news_are_taken_over(overview: Overview) -> None:
    overview.model.set_job("7", lambda job: replace(job, state="COMPLETED", ended_s=90060.0))
    overview.take()
    assert "3 nodes, 0 busy, 1 off; 0 jobs running, 1 waiting, 2 ended" in text_of(overview)


def test_the_chosen_node_is_among_those_that_are_shown() -> None:
    overview = Overview(Model({"name": "large"}), [f"n{number}" for number in range(1000)], chosen=500)
    lines = text_of(overview, 20, is_live=True).splitlines()
    assert len(lines) <= 20 and any(line.startswith("n500 ") for line in lines) and "q quit" in lines[-1]


def test_of_many_jobs_some_are_listed() -> None:
    model = Model({"name": "many"})
    for number in range(100):
        model.set_job(f"{number}", lambda job: replace(job, submitted_s=1.0))
    overview = Overview(model, [])
    overview.take()
    assert f"… {100 - JOBS_PLAIN} more" in text_of(overview)


@pytest.mark.parametrize(("seconds", "text"), [(0, "00:00:00"), (3661.9, "01:01:01"), (86400, "1 d 00:00:00")])
def test_a_virtual_time(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text
