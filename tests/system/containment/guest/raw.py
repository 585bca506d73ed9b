"""Leave the simulation: run a program without the shim, by instructions of the shim's own text (x86-64)."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct

SYSCALL_RETURN = b"\x0f\x05\xc3"
PRCTL, FORK, EXECVE, WAIT4, EXIT_GROUP = 157, 57, 59, 61, 231
PR_SET_SYSCALL_USER_DISPATCH, PR_SET_TSC, PR_TSC_ENABLE = 59, 26, 1


def _gadget() -> int:
    """Where the shim's text has `syscall; ret`; without the shim, anywhere in libc will do."""
    for line in open("/proc/self/maps"):  # noqa: SIM115
        span, flags, *_ = line.split()
        if "x" in flags and ("libsimunix" in line or "libc.so" in line):
            start, end = (int(word, 16) for word in span.split("-"))
            at = ctypes.string_at(start, end - start).find(SYSCALL_RETURN)
            if at >= 0 and "libsimunix" in line:
                return start + at
    raise RuntimeError("no shim here")


def _raw_call() -> object:
    """A function that makes a system call from there: (number, up to five arguments)."""
    code = b"\x48\x89\xf8\x48\x89\xf7\x48\x89\xd6\x48\x89\xca\x4d\x89\xc2\x4d\x89\xc8\x4d\x31\xc9"  # registers, one on
    code += b"\x49\xbb" + struct.pack("Q", _gadget()) + b"\x41\xff\xe3"  # jump to the gadget, which returns to the caller
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    kind = ctypes.PYFUNCTYPE(ctypes.c_long, *([ctypes.c_long] * 6))
    function = kind(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    function.page = page  # type: ignore[attr-defined]
    return function


def run_without_shim(command: list[str]) -> None:
    """Run a program in a process that simunix does not know, and wait for its end."""
    raw = _raw_call()
    variables = {name: text for name, text in os.environ.items() if name not in ("LD_PRELOAD", "SIMUNIX_CHANNEL")}
    words = [ctypes.create_string_buffer(word.encode()) for word in command]
    settings = [ctypes.create_string_buffer(f"{name}={text}".encode()) for name, text in variables.items()]
    arguments = (ctypes.c_char_p * (len(words) + 1))(*(ctypes.addressof(word) for word in words), None)
    environment = (ctypes.c_char_p * (len(settings) + 1))(*(ctypes.addressof(word) for word in settings), None)
    program = ctypes.create_string_buffer(command[0].encode())
    status = ctypes.c_int(0)
    raw(PRCTL, PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0)
    raw(PRCTL, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0)  # which the loader reads
    child = raw(FORK, 0, 0, 0, 0, 0)
    if child == 0:
        raw(EXECVE, ctypes.addressof(program), ctypes.addressof(arguments), ctypes.addressof(environment), 0, 0)
        raw(EXIT_GROUP, 99, 0, 0, 0, 0)
    raw(WAIT4, child, ctypes.addressof(status), 0, 0, 0)
    raw(EXIT_GROUP, status.value >> 8, 0, 0, 0, 0)
