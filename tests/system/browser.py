"""A real browser without a window, for tests of pages: Chromium, driven by selenium."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs the Debian packages chromium and chromium-driver")
PATIENCE_S = 60.0
INKED = """
const canvas = document.querySelector(arguments[0]);
const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
return new Set(pixels).size;
"""
"""How many different colours a canvas has; an empty one has one."""


@contextmanager
def chromium() -> Iterator[Any]:
    """Chromium without a window; skips the test without selenium."""
    selenium = pytest.importorskip("selenium.webdriver", reason="needs the Python package selenium")
    options = selenium.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = selenium.Chrome(options=options, service=selenium.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


class OpenedPage:
    """A page that is open in the browser, as soon as it says that it is ready."""

    def __init__(self, browser: Any, address: str, width: int = 1400) -> None:
        self.browser = browser
        self.resize(width)
        browser.get_log("browser")
        browser.get(address)
        self.wait_for("document.documentElement.dataset.ready")

    def resize(self, width: int) -> None:
        """Give the page a width in CSS pixels; below 600 the browser is that of a phone."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    @contextmanager
    def dark(self) -> Iterator[None]:
        """The browser of a user who likes dark pages."""
        scheme = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
        try:
            yield
        finally:
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def run(self, script: str, *arguments: object) -> Any:
        """What a script returns."""
        return self.browser.execute_script(script, *arguments)

    def wait_for(self, expression: str) -> None:
        """Wait until an expression holds."""
        end = time.monotonic() + PATIENCE_S
        while not self.run(f"return {expression}"):
            assert time.monotonic() < end, f"{expression}: not within {PATIENCE_S:g} s; {self.browser.get_log('browser')}"
            time.sleep(0.05)

    def is_silent(self) -> bool:
        """Whether the browser's console has nothing to say."""
        messages = self.browser.get_log("browser")
        assert not messages, messages
        return True
