"""The live page in a real browser: a user watches Slurm, stops time, pulls a plug, submits a job, and has it all done again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Simunix
from tests.system.browser import INKED, OpenedPage, chromium, needs_browser
from tests.system.tools.test_view import page_of, run_of

pytestmark = [pytest.mark.slow, pytest.mark.slurm, needs_browser]
CLUSTER = """\
name: taught
hosts: [{name: ctl}, {name: 'n[1-4]', cores: 2}]
slurm: {controller: ctl, nodes: 'n[1-4]'}
processes:
  - {name: early, host: ctl, start: 20s, command: sbatch --nodes=2 --output=/dev/null --wrap 'sleep 600'}
until: 10min
stop: time
"""
SUBMITTED = "sbatch --nodes=3 --exclusive --output=/dev/null --job-name=mine --wrap 'sleep 60'"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


class LivePage(OpenedPage):
    """The live page, used by its buttons and fields."""

    def press(self, selector: str) -> None:
        self.browser.find_element("css selector", selector).click()

    def fill(self, form: str, **fields: str) -> None:
        """Fill the fields of a form, and send it."""
        for name, text in fields.items():
            field = self.browser.find_element("css selector", f"#{form} [name={name}]")
            field.clear()
            field.send_keys(text)
        self.press(f"#{form} button")

    def go_until(self, moment: str, part_s: float = 0.0) -> None:
        """Have the run go on until a moment, and a part of a second, and wait until it is paused there."""
        self.fill("until", at=moment + f"{part_s}"[1:])
        self.wait_for(f"$('time').textContent === '{moment}' && $('status').textContent === 'paused'")

    def choose(self, name: str) -> None:
        """Click on a node of the machine."""
        place = self.run(
            "const n = shown.number.get(arguments[0]), {size, columns} = shown.grid, box = $('grid').getBoundingClientRect();"
            "return [box.left + (n % columns + 0.5) * size, box.top + (Math.floor(n / columns) + 0.5) * size]",
            name,
        )
        for kind in ("mousePressed", "mouseReleased"):
            event = {"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1}
            self.browser.execute_cdp_cmd("Input.dispatchMouseEvent", event)
        self.wait_for(f"$('host-name').textContent === '{name}'")


def test_a_user_drives_slurm_and_has_it_done_again(tmp_path: Path, simunix: Simunix, browser: Any) -> None:
    with run_of(tmp_path, CLUSTER) as out, page_of(out) as served:
        page = LivePage(browser, f"http://127.0.0.1:{served.port}{served.path}")
        page.wait_for("$('status').textContent === 'paused'")
        page.go_until("00:00:40")
        page.wait_for("$('counts').textContent.startsWith('1 running, 0 waiting')")
        page.press("[data-do=step]")
        page.wait_for("run.clock.virtual_s > 40 && run.clock.paused")
        page.go_until("00:01:00", 0.125)  # when nothing else is due
        page.choose("n4")
        page.press("[data-host=off]")
        page.wait_for("$('said').textContent === 'host n4, state off: happens as soon as the run goes on'")
        page.fill("run", host="ctl", command=SUBMITTED)
        page.wait_for("$('said').textContent.startsWith('ctl: runs, or waits for virtual time')")
        page.go_until("00:01:30", 0.125)
        page.wait_for("run.hosts.get('n4').power === 'off'")
        page.wait_for("$('actions').textContent.includes('Submitted batch job 2')")
        page.wait_for("$('counts').textContent.startsWith('1 running, 1 waiting')")
        page.wait_for("shown.chart.data[2].at(-1) === 2")  # busy cores, of which Slurm's log tells
        assert page.run(INKED, "#gantt") > 3 and page.run(INKED, "#grid") > 3
        assert page.run("return $('faults').textContent").startswith("00:01:00  host off  host n4")
        for width in (390, 1400):
            page.resize(width)
            assert page.run("return document.documentElement.scrollWidth") <= width, "only tables scroll sideways"
        looks_closer(page)
        saved = served.request("GET", f"{served.path}scenario")[2].decode()
        page.press("#pause")
        page.wait_for("$('status').textContent === 'ended'")
        assert page.is_silent()
    (tmp_path / "again.yaml").write_text(saved)
    done = simunix("run", tmp_path / "again.yaml", "--epoch", "2020-01-01", "--out", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    assert events(out) == events(tmp_path / "again")


def looks_closer(page: LivePage) -> None:
    """Look at a job, at logs, loads and single events."""
    row = "[...document.querySelectorAll('.tabulator-row')].find((one) => one.firstChild.textContent === '2')"
    page.wait_for(f"Boolean({row})")
    page.run(f"{row}.click()")
    page.wait_for("$('job-name').textContent === 'Job 2' && $('job-facts').textContent.includes('PENDING')")
    for number, title in enumerate(("why it waits", "script"), 3):
        page.run("[...$('job-do').children].find((one) => one.textContent === arguments[0]).click()", title)
        page.wait_for(f"run.actions.has({number})")
    page.press("#others button")
    page.press("#logs")
    page.wait_for("$('process-list').textContent.includes('var_log_slurm/slurmctld.log')")
    buttons = "[...$('process-list').querySelectorAll('button')]"
    page.run(f"{buttons}.find((one) => one.textContent.endsWith('slurmctld.log')).click()")
    page.wait_for("$('log-text').textContent.includes('_slurm_rpc_submit_batch_job')")
    page.press("#loads summary")
    page.wait_for("$('power').textContent === 'no host has watts in this scenario'")
    page.go_until("00:01:45")
    page.press("#loads summary")
    page.wait_for("$('job-answers').textContent.includes('Resources')")
    page.wait_for("$('job-answers').textContent.includes('sleep 60')")
    assert page.run("return $('faults').children.length") == 1
    page.run("const one = $('faults-filter'); one.value = 'n4 on'; one.dispatchEvent(new Event('input'))")
    assert page.run("return [$('faults').children.length, $('faults-count').textContent]") == [0, "0 of 1"]
    page.run("const one = $('faults-filter'); one.value = ''; one.dispatchEvent(new Event('input'))")


def events(folder: Path) -> list[dict[str, Any]]:
    """The event log of a run."""
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def test_thousands_of_nodes_are_drawn_pixel_by_pixel(tmp_path: Path, browser: Any) -> None:
    """The chart of jobs on nodes, of 2,000 nodes, as that of few nodes draws it: a job, a node that was off, nothing."""
    (tmp_path / "run.json").write_text('{"ended": "time limit", "virtual_s": 100.0}')
    with page_of(tmp_path) as served:
        page = LivePage(browser, f"http://127.0.0.1:{served.port}{served.path}")
        page.wait_for("$('status').textContent === 'ended'")
        job = {"key": "7", "start": 50, "end": None, "nodes": [*range(1000), *range(1900, 2000)]}
        found = page.run(
            """
            const canvas = $("gantt"), outages = [{node: 1500, start: 0, end: 100}];
            drawGantt(canvas, 2000, [arguments[0]], outages, 0, 100, (one) => one.key);
            const context = canvas.getContext("2d"), hue = (hashOf("7") % SHADES) * 360 / SHADES;
            const at = (x, y) => [...context.getImageData(x * canvas.width, y * GANTT_MOST, 1, 1).data];
            const seen = [[0.75, 0.25], [0.75, 0.97], [0.25, 0.25], [0.75, 0.8], [0.5, 0.7505]].map((place) => at(...place));
            context.setTransform(1, 0, 0, 1, 0, 0);
            context.fillStyle = `hsl(${hue} 55% 52%)`;
            context.fillRect(0, 0, 1, 1);
            return [seen, [...context.getImageData(0, 0, 1, 1).data]];
            """,
            job,
        )
        (ran, ran_below, before, idle, off), shade = found
        assert ran == ran_below and max(abs(one - other) for one, other in zip(ran, shade, strict=True)) <= 1
        assert before == idle == [244, 246, 248, 255] and off == [34, 38, 43, 255]


def test_an_ended_run_is_one_file_that_a_browser_opens(tmp_path: Path, simunix: Simunix, browser: Any) -> None:
    (tmp_path / "events.jsonl").write_text('{"t":1500000000,"event":"host_off","host":"n1"}\n')
    (tmp_path / "run.json").write_text('{"ended": "time limit", "virtual_s": 100.0}')
    done = simunix("view", tmp_path, "--one-file", tmp_path / "page.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    page = LivePage(browser, (tmp_path / "page.html").as_uri())
    page.wait_for("$('status').textContent === 'ended' && $('time').textContent === '00:01:40'")
    assert page.run("return [$('faults').textContent, $('controls').hidden]") == ["00:00:01  host off  host n1", True]
    assert page.is_silent()
