"""`simunix run --count-calls`: a trapped instruction is found with its function, and the event log is that of any other run."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Simunix

LOOP = """
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) long asks_often(int times)
{
    long sum = 0;
    for (int i = 0; i < times; i++) {
        long result;
        __asm__ volatile("syscall\\n\\tnop" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");
        sum += result;
    }
    return sum;
}

int main(void) { return asks_often(57) == 0; }
"""


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed: apt install gcc libc6-dev")
    (tmp_path / "loop.c").write_text(LOOP)
    subprocess.run(["gcc", "-O1", tmp_path / "loop.c", "-o", tmp_path / "loop"], check=True)
    return tmp_path / "loop"


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_hot_instruction_is_named(simunix: Simunix, loop: Path, tmp_path: Path) -> None:
    assert simunix("run", "--count-calls", "--out", tmp_path / "counted", "--", loop).returncode == 0
    assert simunix("run", "--out", tmp_path / "plain", "--", loop).returncode == 0
    (hot,) = (row for row in rows_of(tmp_path / "counted/traps.csv") if row["call"] == "getppid")
    assert (hot["program"], hot["count"], hot["symbol"].partition("+")[0]) == ("loop", "57", "asks_often")
    messages = {
        (row["program"], row["message"]): int(row["count"]) for row in rows_of(tmp_path / "counted/server_messages.csv")
    }
    assert messages["loop", "EXIT"] == 1
    digests = {json.loads((tmp_path / out / "run.json").read_text())["events_sha256"] for out in ("counted", "plain")}
    assert len(digests) == 1


def test_the_tables_need_a_folder(simunix: Simunix) -> None:
    run = simunix("run", "--count-calls", "--", "true")
    assert (run.returncode, run.stderr) == (
        2,
        "simunix: --count-calls: say with --out DIR where traps.csv and server_messages.csv are to be kept\n",
    )
