"""`ulimit -f` and a full disk: the message names the file and what to do, and no half of a result has its name."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.system.tools.test_ends import environment, line, one_line, run, scenario

COMMANDS = {
    "page.html": ("report", "out", "-o", "page.html"),
    "trace.json": ("trace", "out", "-o", "trace.json"),
    "t.swf": ("workload", "convert", "t.csv", "t.swf"),
    "t.json": ("workload", "convert", "t.csv", "t.json"),
    "copy.csv": ("workload", "convert", "t.csv", "copy.csv"),
    "t.png": ("workload", "plot", "t.csv", "-o", "t.png"),
    "p.xml": ("platform", "convert", "s.yaml", "p.xml"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, a workload and a scenario whose results are larger than a kilobyte."""
    made = tmp_path_factory.mktemp("limited")
    scenario(made, "sleep 1", "n[1-30]")
    rows = "".join(f"{number},{number},10,1\n" for number in range(1, 400))
    (made / "t.csv").write_text(f"JobID,Submit,Elapsed,AllocCPUS\n{rows}")
    subprocess.run(line("run", "s.yaml", "--out", "out"), cwd=made, env=environment(), check=True, capture_output=True)
    return made


@pytest.mark.parametrize("name", COMMANDS)
def test_a_limit_of_file_size(folder: Path, name: str) -> None:
    before = sorted(os.listdir(folder))
    done = run(folder, *COMMANDS[name], before="ulimit -f 1", MPLCONFIGDIR=str(folder.parent))
    said = "".join(each for each in done.stderr.splitlines(keepends=True) if "font_manager" not in each)  # matplotlib's own
    assert done.returncode != 0 and one_line(said), done.stderr
    assert f"{name}: File too large; raise the limit of a file's size (ulimit -f)" in done.stderr
    assert sorted(os.listdir(folder)) == before


def test_the_file_system_is_full(folder: Path) -> None:
    done = run(folder, "report", "out", "-o", "/dev/full")
    assert done.returncode != 0 and one_line(done.stderr)
    assert "/dev/full: No space left on device; free some space, or choose another file with -o" in done.stderr
    assert Path("/dev/full").is_char_device()
