"""The generated pages and figures are fresh, and the site builds without a warning: broken links and anchors are warnings."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT

WRITTEN_WITH = (3, 11)
"""Python whose argparse wrote the page of the command line: others break lines of --help elsewhere."""


def test_generated_pages_are_fresh() -> None:
    done = subprocess.run([sys.executable, DOCS / "generate.py", "--check"], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if sys.version_info[:2] != WRITTEN_WITH:
        lines = [line for line in lines if "cli.md" not in line]
    assert not lines, "python docs/generate.py"
    assert not done.stderr


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("material") is None, reason="mkdocs-material is not installed")
def test_site_builds_without_warnings(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site/internals/map.html").exists()


def test_figures_of_studies_say_what_their_tables_say() -> None:
    done = subprocess.run([sys.executable, DOCS / "figures.py", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_study_opens_with_its_figure() -> None:
    for page in sorted((DOCS / "studies").glob("*.md")):
        opening = page.read_text().split("\n\n")[1]
        assert page.name == "index.md" or f"../images/study-{page.stem}.svg" in opening, page.name
