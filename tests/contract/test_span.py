"""The preload library takes the same address space as before: event logs of some programs depend on it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from elftools.elf.elffile import ELFFile

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "csrc/build"))

from build_shim import SPAN_BYTES  # type: ignore[import-not-found]

PAGE = 4096


def test_the_span_of_the_library_is_the_one_that_is_declared() -> None:
    compiler = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip()
    if compiler.split(".")[0] != "12":
        pytest.skip(f"gcc {compiler} makes code of another size; the span is that of gcc 12, Debian 12's")
    with (ROOT / "simunix/lib/libsimunix.so").open("rb") as file:
        loads = [segment for segment in ELFFile(file).iter_segments() if segment["p_type"] == "PT_LOAD"]
        end = max(segment["p_vaddr"] + segment["p_memsz"] for segment in loads)
    assert -(-end // PAGE) * PAGE == SPAN_BYTES, (
        "the shim has outgrown its span, so that event logs of programs whose allocator aligns its memory change: "
        "say so in CHANGELOG.md, and set SPAN_BYTES in csrc/build/build_shim.py"
    )
