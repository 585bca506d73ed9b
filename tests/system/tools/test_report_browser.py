"""The report in a real browser, headless: nothing on its console, figures drawn, the table of jobs sorts and filters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simunix.cli.main import main
from tests.system.browser import INKED, OpenedPage, chromium, needs_browser
from tests.unit.simunix.report import runs

pytestmark = [pytest.mark.slow, needs_browser]
HOSTILE = "<img src=x onerror=\"document.title='stolen'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


class Page(OpenedPage):
    """A report that is open in the browser."""

    def __init__(self, browser: Any, path: Path, width: int = 1400) -> None:
        super().__init__(browser, path.as_uri(), width)

    def has_jobs(self) -> None:
        self.wait_for("document.documentElement.dataset.table && document.querySelector('.tabulator-row')")

    def column(self, field: str) -> list[str]:
        cells = "document.querySelectorAll(`.tabulator-row [tabulator-field='${arguments[0]}']`)"
        texts: list[str] = self.run(f"return [...{cells}].map((cell) => cell.innerText)", field)
        return texts


def make_report(tmp_path: Path, *folders: Path) -> Path:
    assert main(["report", *map(str, folders), "-o", str(tmp_path / "report.html")]) == 0
    return tmp_path / "report.html"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A report of two runs of 40 jobs."""
    one = runs.write_run(tmp_path / "busy", runs.rows(40, 8, mean_gap_s=5), 8)
    return make_report(tmp_path, one, runs.write_run(tmp_path / "calm", runs.rows(40, 8, mean_gap_s=300), 8))


@pytest.mark.parametrize("width", [1400, 400])
def test_figures_are_drawn_wide_and_narrow(browser: Any, two: Path, width: int) -> None:
    page = Page(browser, two, width)
    for chart in ("#utilisation", "#queue", "#waits", "#slowdowns", "#gantt-0", "#gantt-1"):
        assert page.run(INKED, f"{chart} canvas") > 5, chart
        assert page.run("return document.querySelector(arguments[0]).scrollWidth", chart) <= width
    assert page.run("return document.documentElement.scrollWidth") <= width, "only tables scroll sideways"
    page.has_jobs()
    assert page.is_silent()


def test_the_table_sorts_and_filters(browser: Any, two: Path) -> None:
    page = Page(browser, two)
    page.has_jobs()
    assert page.column("job")[:3] == ["1", "2", "3"]
    page.run("document.querySelector(\".tabulator-col[tabulator-field='wait0'] .tabulator-col-title\").click()")
    page.run("document.querySelector(\".tabulator-col[tabulator-field='wait0'] .tabulator-col-title\").click()")
    waits = [float(text.replace(",", "")) for text in page.column("wait0")]
    assert len(waits) > 5 and waits == sorted(waits, reverse=True)
    assert waits[0] == max(row.waiting_time or 0 for row in runs.rows(40, 8, mean_gap_s=5))
    page.run("jobGrid.setHeaderFilterValue('cores', '>= 128')")
    page.wait_for("document.getElementById('count').textContent.startsWith('40') === false")
    large = sum(row.requested_number_of_resources >= 128 for row in runs.rows(40, 8))
    assert page.run("return document.getElementById('count').textContent") == f"{large} of 40 jobs"
    assert set(page.column("cores")) == {"128"}
    assert page.is_silent()


def test_zoom_and_colours(browser: Any, two: Path) -> None:
    page = Page(browser, two)
    zoomed = "return reportCharts.map((chart) => chart.scales.x.max)"
    before = page.run(zoomed)
    page.run("reportCharts[0].setScale('x', {min: 0, max: 100}); return new Promise((done) => setTimeout(done, 100))")
    assert page.run(zoomed)[0] == 100 < before[0]
    page.run("const one = document.getElementById('colour'); one.value = 'state'; one.dispatchEvent(new Event('change'))")
    assert page.run(INKED, "#gantt-0 canvas") > 5
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    try:
        assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 28)"
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert page.is_silent()


def test_hostile_names_do_nothing(browser: Any, tmp_path: Path) -> None:
    job = runs.ran(7, 0.0, 1.0, 6.0, "node0001", state=HOSTILE, name=HOSTILE)
    one = runs.write_run(tmp_path / "<img src=x onerror=alert(1)>", [job, *runs.rows(3, 1)], 1)
    page = Page(browser, make_report(tmp_path, one, runs.write_run(tmp_path / "b&b", runs.rows(3, 1), 1)))
    page.has_jobs()
    assert page.run("return document.querySelectorAll('img').length") == 0
    assert "stolen" not in browser.title
    assert HOSTILE in page.column("state0")
    assert page.is_silent()


@pytest.mark.parametrize("left", [["events.jsonl"], ["run.json"], ["jobs.csv"]])
def test_what_is_not_whole_is_a_sensible_page(browser: Any, tmp_path: Path, left: list[str]) -> None:
    folder = runs.write_run(tmp_path / "r", runs.rows(5, 2), 2)
    for path in [path for path in folder.iterdir() if path.name not in left]:
        path.unlink()
    page = Page(browser, make_report(tmp_path, folder))
    assert page.run("return document.body.innerText.length") > 50
    assert page.is_silent()


def test_many_jobs_are_shown_as_shares_until_one_looks_closer(browser: Any, tmp_path: Path) -> None:
    folder = runs.write_run(tmp_path / "r", runs.rows(8000, 500, mean_gap_s=20), 500)
    page = Page(browser, make_report(tmp_path, folder))
    drawn = "return document.querySelector('#gantt-0 .uplot').dataset.drawn"
    assert page.run(drawn) == "density" and page.run(INKED, "#gantt-0 canvas") > 20
    page.run("reportCharts[2].setScale('x', {min: 0, max: 5000}); return new Promise((done) => setTimeout(done, 200))")
    assert page.run(drawn) == "jobs"
    page.has_jobs()
    assert page.run("return document.getElementById('count').textContent") == "8,000 of 8,000 jobs"
    assert page.is_silent()


def test_figures_over_time_are_aligned(browser: Any, two: Path) -> None:
    """The same moment is at the same place in curves and charts that stand below each other."""
    page = Page(browser, two)
    places = page.run("return reportCharts.slice(0, 4).map((chart) => chart.over.getBoundingClientRect().left)")
    assert len(places) == 4 and len(set(places)) == 1


def test_wide_tables_keep_their_names_in_sight(browser: Any, tmp_path: Path) -> None:
    folders = [runs.write_run(tmp_path / f"run-{n}", runs.rows(10, 2, mean_gap_s=20 * n + 5), 2) for n in range(5)]
    page = Page(browser, make_report(tmp_path, *folders), 400)
    page.run("document.querySelector('#summary .scroll').scrollLeft = 300")
    name = "document.querySelector('#summary tbody th')"
    assert page.run(f"return {name}.getBoundingClientRect().left") >= 0
    middle = f"const box = {name}.getBoundingClientRect(); return document.elementFromPoint(box.left + 20, box.top + 8).tagName"
    page.run(f"{name}.scrollIntoView()")
    assert page.run(middle) == "TH", "numbers pass below it"
    assert page.is_silent()
