"""Slurm's own parser of its files, asked through its library: which values it reads of a text, or that it refuses the text."""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import resource
from collections.abc import Sequence
from pathlib import Path

LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/slurm*/libslurmfull.so"))), None)
S_P_STRING = 1


class _Option(ctypes.Structure):
    _fields_ = (
        ("key", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("handler", ctypes.c_void_p),
        ("destroy", ctypes.c_void_p),
        ("line_options", ctypes.c_void_p),
    )


def _asked(path: Path, keys: Sequence[str]) -> dict[str, str | None] | None:
    library = ctypes.CDLL(str(LIBRARY))
    options = (_Option * (len(keys) + 1))(*(_Option(key.encode(), S_P_STRING) for key in keys))
    library.s_p_hashtbl_create.restype = ctypes.c_void_p
    table = ctypes.c_void_p(library.s_p_hashtbl_create(options))
    if library.s_p_parse_file(table, None, str(path).encode(), ctypes.c_bool(False), None, None) != 0:
        return None
    found: dict[str, str | None] = {}
    for key in keys:
        value = ctypes.c_char_p()
        library.s_p_get_string(ctypes.byref(value), key.encode(), table)
        found[key] = None if value.value is None else value.value.decode()
    return found


def slurm_reads(path: Path, keys: Sequence[str]) -> dict[str, str | None] | None:
    """The value of each key by Slurm's parser; None if it refuses the file. A process of its own asks: the library ends it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            faulthandler.disable()  # the library crashes as it prints what it refuses
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.close(reading)
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            os.write(writing, json.dumps(_asked(path, keys)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        told = answer.read()
    os.waitpid(child, 0)
    found: dict[str, str | None] | None = json.loads(told) if told else None
    return found
