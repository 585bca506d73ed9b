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
#include <stdlib.h>
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

/* Aligned, so that there is padding before it. */
__attribute__((noinline, aligned(64))) int number_of(const char *text) { return atoi(text); }

/* No padding within the reach of a short jump. */
__asm__(".text\\n.type far_call, @function\\nfar_call:\\n.cfi_startproc\\n.skip 200, 0x90\\nmov $110, %eax\\nxor %edi, %edi\\n"
        "syscall\\nret\\n.skip 200, 0x90\\n.cfi_endproc\\n.size far_call, .-far_call\\n");
extern long far_call(void);

__attribute__((noinline)) long asks_far(int times)
{
    long sum = 0;
    while (times-- > 0)
        sum += far_call();
    return sum;
}

int main(int count, char **arguments)
{
    int times = count > 1 ? number_of(arguments[1]) : 57;
    return (count > 2 ? asks_far(times) : asks_often(times)) == 0;
}
"""


WAKES = """
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
word = ctypes.c_uint32.from_buffer(mmap.mmap(-1, 4096))
if os.fork() == 0:
    libc.syscall(202, ctypes.byref(word), 0, 0, None)  # FUTEX_WAIT, not private
    os._exit(0)
os.sched_yield()
def wake():
    return libc.syscall(202, ctypes.byref(word), 1, 1)  # FUTEX_WAKE
woken = wake()
os.wait()
print(woken, sum(wake() for _ in range(500)))
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


def test_calls_are_counted_where_computing_is_charged(simunix: Simunix, loop: Path, tmp_path: Path) -> None:
    run = simunix("run", "--count-calls", "--set", "cpu_policy=charged", "--out", tmp_path / "counted", "--", loop)
    assert (run.returncode, run.stderr) == (0, "")
    (hot,) = (row for row in rows_of(tmp_path / "counted/traps.csv") if row["symbol"].startswith("asks_often"))
    assert (hot["program"], hot["call"], hot["count"]) == ("loop", "getppid", "57")


@pytest.mark.parametrize("place", [(), ("far",)], ids=["near_padding", "far_from_padding"])
def test_a_hotter_instruction_is_rewritten(simunix: Simunix, loop: Path, tmp_path: Path, place: tuple[str, ...]) -> None:
    assert simunix("run", "--out", tmp_path / "few", "--", loop, "1", *place).returncode == 0
    assert simunix("run", "--out", tmp_path / "many", "--", loop, "5001", *place).returncode == 0
    few, many = (json.loads((tmp_path / out / "run.json").read_text())["counts"] for out in ("few", "many"))
    assert many["traps"] + many["preloaded_calls"] == few["traps"] + few["preloaded_calls"] + 5000
    assert many["traps"] - few["traps"] == 127


def test_waking_nobody_in_shared_memory_needs_no_message(simunix: Simunix, tmp_path: Path) -> None:
    run = simunix("run", "--count-calls", "--out", tmp_path / "wakes", "--", "/usr/bin/python3", "-c", WAKES)
    assert (run.returncode, run.stdout) == (0, "1 0\n")
    messages = {row["message"]: int(row["count"]) for row in rows_of(tmp_path / "wakes/server_messages.csv")}
    assert messages["WAKE"] == 1


def test_the_tables_need_a_folder(simunix: Simunix) -> None:
    run = simunix("run", "--count-calls", "--", "true")
    assert (run.returncode, run.stderr) == (
        2,
        "simunix: --count-calls: needs --out DIR, the folder that will contain traps.csv and server_messages.csv\n",
    )
