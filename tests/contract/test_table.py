"""The table of system calls is whole, and every message has a handler."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rsg_server.protocol import Op
from tests.unit.rsg_server.fakes import HANDLERS

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^(?:QUIET_)?(SIMULATE|PASS|REFUSE(?:_AFTER)?)\((\w+), (.+)\)$", re.MULTILINE)
HOOK = re.compile(r"^HOOK\((\w+), \w+, (\w+), (\w+),", re.MULTILINE)
KEYED = {
    "csrc/shim/sys/cgroup/absent.c": "which argument is a path",
    "csrc/shim/sys/file/change.c": "what a call changes of a file, and where it says of which",
    "csrc/shim/sys/io/stored_names.c": "what a call does with names on a storage, and where it says with which",
    "csrc/shim/turn/call_price.c": "what the dear calls cost natively",
}
"""Files with a table by numbers of system calls besides syscalls.def and strace.def, and what each table has. Not to grow."""
HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


def test_every_system_call_of_the_headers_has_a_row() -> None:
    rows = [name for _, name, _ in ROW.findall((ROOT / "csrc/tables/syscalls.def").read_text())]
    known = set(re.findall(r"#define __NR_(\w+)", HEADER.read_text()))
    assert known - set(rows) == set()
    assert len(rows) == len(set(rows))


def test_no_other_file_has_a_table_by_numbers_of_system_calls() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "csrc").rglob("*.[ch]")
        if re.search(r"\[__NR_\w+\]\s*=", path.read_text())
    }
    assert found == set(KEYED), "a system call's property is a column of csrc/tables/syscalls.def"


def test_every_pass_and_refusal_says_why() -> None:
    for kind, name, rest in ROW.findall((ROOT / "csrc/tables/syscalls.def").read_text()):
        if kind != "SIMULATE":
            assert re.search(r'"[^"]{10,}"', rest), name


def test_every_message_has_a_handler() -> None:
    assert {int(op) for op in Op} == set(HANDLERS)


def dynamic_symbols(kind: str) -> set[str]:
    library = ROOT / "simunix/lib/libsimunix.so"
    result = subprocess.run(["nm", "-D", kind, library], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in result.stdout.splitlines() if line.split()[-2] != "A"}


def test_the_shim_needs_no_library() -> None:
    """Weak ones are looked up in whatever libc the process has, and done without where there is none."""
    assert dynamic_symbols("--undefined-only") == {
        "__errno_location",
        "pthread_setcanceltype",
        "syscall",
        "clock_gettime",
        "time",
        "__rseq_offset",
        "__rseq_size",
    }


def test_the_shim_exports_the_preload_net_and_nothing_else() -> None:
    hooks = [function for _, function, _ in HOOK.findall((ROOT / "csrc/tables/hooks.def").read_text())]
    assert len(hooks) == len(set(hooks))
    assert dynamic_symbols("--defined-only") == set(hooks)


def test_preloaded_functions_reach_rows_that_need_no_trapped_registers() -> None:
    rows = {name: kind for kind, name, _ in ROW.findall((ROOT / "csrc/tables/syscalls.def").read_text())}
    calls = {call for _, _, call in HOOK.findall((ROOT / "csrc/tables/hooks.def").read_text())}
    assert calls <= set(rows)
    assert not calls & {"clone", "clone3", "fork", "vfork", "rt_sigprocmask", "sigaltstack", "rt_sigreturn", "execve"}


@pytest.mark.parametrize("call", ["read", "poll", "nanosleep", "usleep", "close"])
def test_cancellation_points_are_hooked_as_such(call: str) -> None:
    kinds = {function: kind for kind, function, _ in HOOK.findall((ROOT / "csrc/tables/hooks.def").read_text())}
    assert kinds[call] == "CANCEL"
