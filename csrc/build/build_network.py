"""The cffi module `rsg_server._network`: the max-min solver, flows over routes, and the network with a clock of its own.

Ordinary C with libc, in csrc/network/: nothing of it is preloaded.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "network"
EXPOSED = ("maxmin", "flows", "engine")


def declarations() -> str:
    """What cffi is told: the blocks that the headers mark for it."""
    blocks = []
    for name in EXPOSED:
        block = (FOLDER / f"{name}.h").read_text().split("/* cffi: begin */")[1].split("/* cffi: end */")[0]
        blocks.append(re.sub(r"/\*.*?\*/", "", block, flags=re.DOTALL))
    return "\n".join(blocks)


def ffi_builder() -> object:
    """The module, for setup.py."""
    from cffi import FFI

    builder = FFI()
    builder.cdef(declarations())
    builder.set_source(
        "rsg_server._network",
        "".join(f'#include "network/{name}.h"\n' for name in EXPOSED),
        sources=[f"csrc/network/{path.name}" for path in sorted(FOLDER.glob("*.c"))],
        include_dirs=["csrc"],
        extra_compile_args=["-std=gnu11", "-O2"],
        depends=[f"csrc/network/{path.name}" for path in sorted(FOLDER.glob("*.h"))],
    )
    return builder
