"""The table of system calls is whole, and every message has a handler."""

from __future__ import annotations

import re
from pathlib import Path

from rsg_server.handlers import HANDLERS
from rsg_server.protocol import Op

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^(?:QUIET_)?(SIMULATE|PASS|REFUSE)\((\w+), (.+)\)$", re.MULTILINE)
HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


def test_every_system_call_of_the_headers_has_a_row() -> None:
    rows = [name for _, name, _ in ROW.findall((ROOT / "csrc/syscalls.def").read_text())]
    known = set(re.findall(r"#define __NR_(\w+)", HEADER.read_text()))
    assert known - set(rows) == set()
    assert len(rows) == len(set(rows))


def test_every_pass_and_refusal_says_why() -> None:
    for kind, name, rest in ROW.findall((ROOT / "csrc/syscalls.def").read_text()):
        if kind != "SIMULATE":
            assert re.search(r'"[^"]{10,}"', rest), name


def test_every_message_has_a_handler() -> None:
    assert {int(op) for op in Op} == set(HANDLERS)


def test_the_shim_needs_no_library() -> None:
    import subprocess

    library = ROOT / "simunix/lib/libsimunix.so"
    symbols = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True)
    assert symbols.stdout.strip() == ""
