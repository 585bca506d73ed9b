"""Compiles `rsg_server._native` with AddressSanitizer and UBSan, for a Python process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


def build(folder: Path) -> Path:
    """The module, compiled into a folder. Raises CalledProcessError where the compiler fails."""
    sys.path.insert(0, str(ROOT / "csrc/build"))
    import build_shim

    source, module = folder / "_native.c", folder / "_native.so"
    build_shim.ffi_builder().emit_c_code(str(source))
    flags = ["-std=gnu11", "-O1", "-g", "-fPIC", "-shared", "-fno-omit-frame-pointer", *SANITIZERS]
    headers = ["-Icsrc", f"-I{sysconfig.get_path('include')}"]
    command = ["gcc", *flags, *headers, str(source), *build_shim.native_sources(), "-o", str(module)]
    subprocess.run(command, cwd=ROOT, check=True)
    return module


def environment() -> dict[str, str]:
    """What a Python process needs that loads the module: the sanitizer comes first, and sees each allocation by itself."""
    library = subprocess.run(["gcc", "-print-file-name=libasan.so"], check=True, capture_output=True, text=True).stdout.strip()
    return {
        **os.environ,
        "LD_PRELOAD": library,
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter's own memory at its end
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
