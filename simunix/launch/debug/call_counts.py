"""`simunix run --count-calls`: write traps.csv, which instructions trapped into the shim how often, and
server_messages.csv, how many messages of each kind the server received.
"""

from __future__ import annotations

import bisect
import csv
import os
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from rsg_server.turn.call_counts import MessageKind, TrapPlace
from rsg_server.whole_files import whole_file

TRAPS_FILE, MESSAGES_FILE = "traps.csv", "server_messages.csv"
TRAP_COLUMNS = ("program", "symbol", "file", "offset", "call", "count")
MESSAGE_COLUMNS = ("program", "message", "wait", "call", "count")


def write_traps(path: Path, places: Iterable[TrapPlace]) -> None:
    """Write traps.csv: a row for each instruction that trapped into the shim."""
    rows = ((place.program, symbol_of(place), place.file, f"{place.offset:#x}", place.call, place.count) for place in places)
    _write(path, TRAP_COLUMNS, rows)


def write_messages(path: Path, messages: Counter[MessageKind]) -> None:
    """Write server_messages.csv, the most frequent kind of message first."""
    rows = sorted((-count, kind.program, kind.message, kind.wait, kind.call) for kind, count in messages.items())
    _write(path, MESSAGE_COLUMNS, ((*names, -count) for count, *names in rows))


def _write(path: Path, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    with whole_file(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def symbol_of(place: TrapPlace) -> str:
    """Return the function that contains an instruction, as `read+0x12`: the nearest symbol below its address. Return ""
    if the file has been replaced since it was mapped.

    A stripped library has symbols of exported functions only. For such a library the offset may be large, and the
    symbol may be that of another function.
    """
    symbols = _symbols(place.file, place.inode)
    address = _address(symbols.segments, place.offset)
    at = bisect.bisect_right(symbols.addresses, address) - 1
    return f"{symbols.names[at]}+{address - symbols.addresses[at]:#x}" if at >= 0 else ""


class _Symbols:
    """The symbols of an ELF file: addresses in ascending order with the functions' names, and the file's segments as
    (offset, address, size).
    """

    def __init__(self, file: str = "", inode: int = 0) -> None:
        self.addresses: list[int] = []
        self.names: list[str] = []
        self.segments: list[tuple[int, int, int]] = []
        if file.startswith("/") and inode == _inode(file):
            self._read(file)

    def _read(self, file: str) -> None:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile

        found: dict[int, str] = {}
        section: Any
        try:
            with Path(file).open("rb") as stream:
                elf = ELFFile(stream)
                self.segments = [(one["p_offset"], one["p_vaddr"], one["p_filesz"]) for one in elf.iter_segments("PT_LOAD")]
                for section in filter(None, map(elf.get_section_by_name, (".symtab", ".dynsym"))):
                    for symbol in section.iter_symbols():
                        if symbol["st_info"]["type"] in ("STT_FUNC", "STT_LOOS") and symbol["st_value"]:
                            known = found.get(symbol["st_value"])
                            found[symbol["st_value"]] = min(known, symbol.name, key=_plainness) if known else symbol.name
        except (ELFError, OSError):
            return
        self.addresses = sorted(found)
        self.names = [found[address] for address in self.addresses]


def _plainness(name: str) -> tuple[bool, int, str]:
    return name.startswith("_"), len(name), name


@cache
def _symbols(file: str, inode: int) -> _Symbols:
    return _Symbols(file, inode)


def _inode(file: str) -> int:
    try:
        return os.stat(file).st_ino
    except OSError:
        return -1


def _address(segments: list[tuple[int, int, int]], offset: int) -> int:
    return next((offset - begin + address for begin, address, size in segments if begin <= offset < begin + size), -1)
