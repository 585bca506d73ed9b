"""The commands of README, tutorial and guides are run as printed, in order, and print what the page says.

Each page has a scratch folder of its own with the repository's `scenarios`. A block with a title is written as a file. Of the
output, what stands in the page must come out; `…` stands for anything, at the end of a block also for all that follows.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, LOOSE_PAGES, ROOT, Block, blocks_of, name_of
from tests.starts import without_notices

PAGES = (*LOOSE_PAGES, *sorted((DOCS / "tutorial").glob("*.md")), *sorted((DOCS / "guide").glob("*.md")), DOCS / "index.md")
RUN_ELSEWHERE = DOCS / "guide" / "testing-your-program.md"
"""tests/plugin/test_documentation.py runs this page."""
LOOKS_LIKE_COMMAND = re.compile(r"^ *(\$ )?(simunix|make|pytest|python3?|pip|\.venv/bin/\w+) ", re.MULTILINE)


def runs(block: Block) -> bool:
    """Whether the block takes part in a page's run."""
    return block.title is not None or (block.has_commands and block.why_not_run is None)


def page_parameters() -> Iterator[object]:
    """A parameter for each page with commands to run, marked as its comments say."""
    for page in PAGES:
        blocks = blocks_of(page)
        if page == RUN_ELSEWHERE or not any(block.has_commands and runs(block) for block in blocks):
            continue
        needs = {need for block in blocks for need in block.notes.get("needs", [])}
        marks = [pytest.mark.slow] * any("slow" in block.notes for block in blocks)
        marks += [pytest.mark.slurm] * ("slurm" in needs)
        marks += [pytest.mark.skipif(os.getuid() != 0, reason="needs the user root")] * ("root" in needs)
        missing = [need for need in needs - {"slurm", "root"} if shutil.which(need) is None]
        marks += [pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")]
        yield pytest.param(page, marks=marks, id=name_of(page))


def blocks_not_run() -> list[Block]:
    return [block for page in PAGES for block in blocks_of(page) if block.has_commands and block.why_not_run is not None]


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A folder as a reader of the guides has it: the checkout's scenarios, nothing else."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    return tmp_path


def commands_of(block: Block) -> Iterator[tuple[str, str | None]]:
    """The block's commands, each with the output that the page shows (None: nothing is said of it)."""
    if block.language == "bash":
        yield block.text, None
        return
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command = f"{command[:-1]} {more.strip().removeprefix('> ')}"
        yield command, output


def environment() -> dict[str, str]:
    """The reader's: this checkout's programs first, a terminal of 80 columns."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {
        **os.environ,
        "PATH": path,
        "COLUMNS": "80",
        "PYTHONPATH": str(ROOT),
        "ROOT": str(ROOT),
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
    }


def run(command: str, folder: Path, *, code: int = 0) -> str:
    """What the command prints on both streams. Fails unless it ends with the exit code."""
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == code, f"$ {command}\n{done.stdout}"
    return without_notices(done.stdout)


@contextmanager
def beside(block: Block, folder: Path) -> Iterator[None]:
    """The other terminal's command goes on, ready for the block's commands; it is interrupted unless it has ended by itself."""
    commands = block.notes.get("beside", [])
    if not commands:
        yield
        return
    with (folder / "beside.log").open("w") as log:
        other = subprocess.Popen(
            ["bash", "-c", f"exec {commands[0]}"],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_until_ready(block.notes["ready"][0], other, folder)
            yield
        finally:
            if other.poll() is None:
                other.send_signal(signal.SIGINT)
            other.wait(60)


def wait_until_ready(command: str, other: subprocess.Popen[bytes], folder: Path) -> None:
    """Ask with the command until it succeeds."""
    ends = time.monotonic() + 60
    while subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False
    ).returncode:
        assert other.poll() is None and time.monotonic() < ends, (folder / "beside.log").read_text()
        time.sleep(0.2)


def pattern_of(shown: str) -> str:
    """A regular expression of the output in the page: `…` is anything, spaces and frames of tables are of any length."""
    parts = (re.escape(part) for part in shown.strip().split("…"))
    text = ".*?".join(parts)
    return re.sub(r"(?:\\ )+", r"[ ]+", re.sub(r"─+", "─+", text)) + (r"\s*" if not shown.strip().endswith("…") else ".*")


def agrees(shown: str, printed: str) -> bool:
    return (
        re.fullmatch(pattern_of(shown), "\n".join(line.rstrip() for line in printed.strip().splitlines()), re.DOTALL)
        is not None
    )


@pytest.mark.parametrize("page", list(page_parameters()))
def test_commands_run_as_printed(page: Path, scratch: Path) -> None:
    blocks = blocks_of(page)
    for block in blocks:
        if block.title is not None:
            (scratch / block.title).write_text(block.text)
    for block in blocks:
        if block.title is not None or not runs(block):
            continue
        for first in block.notes.get("first", []):
            run(first, scratch)
        with beside(block, scratch):
            run_block(block, scratch)


def run_block(block: Block, folder: Path) -> None:
    """The block's commands print what the page says, and the last one ends with the block's exit code."""
    code = int(block.notes.get("exit", ["0"])[0])
    commands = list(commands_of(block))
    for number, (command, shown) in enumerate(commands, 1):
        printed = run(command, folder, code=code if number == len(commands) else 0)
        if shown is not None and (shown.strip() or block.language == "console"):
            assert agrees(shown, printed), f"{block.name}\n$ {command}\n{printed}"


@pytest.mark.parametrize("block", blocks_not_run(), ids=lambda block: f"{block.name}: {block.why_not_run}")
def test_a_block_that_is_not_run_says_why_and_which_test_runs_the_like(block: Block) -> None:
    reason, _, files = (block.why_not_run or "").partition("; ")
    assert reason
    assert files
    assert all((ROOT / file).is_file() for file in files.split(", ")), files


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_stand_in_blocks_that_are_run(page: Path) -> None:
    """A command in a block of another language, or of none, would never be run."""
    hidden = [block.name for block in blocks_of(page) if block.title is None and not block.language]
    hidden += [
        block.name
        for block in blocks_of(page)
        if block.language in ("text", "sh", "shell") and LOOKS_LIKE_COMMAND.search(block.text)
    ]
    assert not hidden
