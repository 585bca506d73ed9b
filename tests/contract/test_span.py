"""The preload library takes the same address space as before: event logs of some programs depend on it."""

from __future__ import annotations

import sys

from elftools.elf.elffile import ELFFile

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "csrc/build"))

from build_shim import SPAN_BYTES  # type: ignore[import-not-found]


def test_the_span_of_the_library_is_the_one_that_is_declared() -> None:
    with (ROOT / "simunix/lib/libsimunix.so").open("rb") as file:
        loads = [segment for segment in ELFFile(file).iter_segments() if segment["p_type"] == "PT_LOAD"]
        end = max(segment["p_vaddr"] + segment["p_memsz"] for segment in loads)
    assert end == SPAN_BYTES, (
        "the preload library does not take the address space that csrc/build/build_shim.py declares, "
        "so that event logs of programs whose allocator aligns its memory change"
    )
