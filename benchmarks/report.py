"""Measure the report on 100,000 jobs on 5,000 nodes: seconds to write it, bytes of the page, and seconds until a
browser shows it.

The run is synthetic. Its jobs use 1 … 64 whole nodes, drawn at random, and are placed first come, first served, so that
few jobs get adjacent nodes.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# sys.path[0] was this folder, and Python would import benchmarks/platform.py in the place of its own module platform
sys.path[0] = str(Path(__file__).resolve().parents[1])

from simunix.report.comparison import Comparison  # noqa: E402
from simunix.report.page.write import write_page  # noqa: E402
from simunix.report.run_data import read_run  # noqa: E402
from simunix.report.trace_events import write_trace  # noqa: E402
from tests.unit.simunix.report import runs  # noqa: E402

TABLE_S = 120.0
PAINT = "return performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime)[0]"
"""A script for the browser, which returns the milliseconds from the start of the navigation to the first paint."""


def in_browser(page: Path) -> dict[str, float]:
    """Return the real seconds until a headless Chromium has painted first, has drawn all figures, and shows the table
    of jobs. The result is empty without Chromium.
    """
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        print("no browser: apt-get install chromium chromium-driver")
        return {}
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,900"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        begin = time.monotonic()
        browser.get(page.as_uri())
        ready = await_word(browser, "ready") - begin
        table = await_word(browser, "table") - begin
        return {"first paint": browser.execute_script(PAINT) / 1e3, "figures": ready, "table": table}
    finally:
        browser.quit()


def await_word(browser: Any, word: str) -> float:
    """Wait until the page has set its attribute `data-WORD`; return the moment, in seconds of the monotonic clock.
    Exits with a message after TABLE_S seconds.
    """
    end = time.monotonic() + TABLE_S
    while not browser.execute_script(f"return document.documentElement.dataset.{word}"):
        if time.monotonic() > end:
            raise SystemExit(f"the page is not {word} after {TABLE_S:g} s")
        time.sleep(0.02)
    return time.monotonic()


def main() -> None:
    """Write the files of a synthetic run, then its report, and print what the report costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--nodes", type=int, default=5_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = runs.rows(options.jobs, options.nodes, 1, mean_gap_s=25_000 / options.nodes)
        begin = time.monotonic()
        directory = runs.write_run(Path(folder) / "run", rows, options.nodes)
        print(f"a run's CSV files   {time.monotonic() - begin:8.2f} s")
        begin = time.monotonic()
        size = write_page(Path(folder) / "report.html", Comparison([read_run(directory)]), "benchmark")
        print(f"report              {time.monotonic() - begin:8.2f} s  {size / 1e6:.1f} MB")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak memory         {peak:8.0f} MiB")
        for name, seconds in in_browser(Path(folder) / "report.html").items():
            print(f"browser: {name:<11}{seconds:8.2f} s")
        begin = time.monotonic()
        events = write_trace(Path(folder) / "trace.json.gz", read_run(directory))
        print(f"trace               {time.monotonic() - begin:8.2f} s  {events:,} events")


if __name__ == "__main__":
    main()
