"""The tutorial's program prints the dates of its counterpart in C++, and of SimGrid's Python module; the page shows them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, blocks_of
from tests.docs.test_commands import agrees
from tests.system.rsg.running import SYSTEM_PYTHON, script, simgrid_is_there

PAGE = DOCS / "tutorial" / "7-remote-simgrid.md"
SHOWN = [block.text for block in blocks_of(PAGE) if block.language == "console"]
LINES_MAX = 60

pytestmark = [pytest.mark.slow]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The files that the page shows."""
    for block in blocks_of(PAGE):
        if block.title is not None:
            (tmp_path / block.title).write_text(block.text)
    return tmp_path


def test_both_programs_are_short(files: Path) -> None:
    for name in ("master_workers.py", "master_workers.cpp"):
        assert len((files / name).read_text().splitlines()) <= LINES_MAX


@pytest.mark.skipif(not simgrid_is_there(), reason="SimGrid's Python module is not installed (Debian: python3-simgrid)")
def test_python_module_prints_the_same(files: Path) -> None:
    ours = script(files / "machine.xml", files / "master_workers.py")
    other = files / "with_simgrid.py"
    other.write_text((files / "master_workers.py").read_text().replace("simunix.rsg", "simgrid"))
    done = subprocess.run([SYSTEM_PYTHON, other, files / "machine.xml"], capture_output=True, text=True, check=True)
    assert done.stdout == ours


@pytest.mark.skipif(not Path("/usr/include/simgrid").exists(), reason="needs SimGrid's headers (Debian: libsimgrid-dev)")
def test_program_in_c_plus_plus_prints_the_same(files: Path) -> None:
    build, run = (line.removeprefix("$ ") for line in SHOWN[1].splitlines() if line.startswith("$ "))
    subprocess.run(build, shell=True, cwd=files, check=True)
    printed = subprocess.run(run, shell=True, cwd=files, capture_output=True, text=True, check=True).stdout
    assert printed == script(files / "machine.xml", files / "master_workers.py")
    assert agrees(SHOWN[1].partition(run)[2], printed)
