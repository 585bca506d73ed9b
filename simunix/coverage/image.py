"""Read from an ELF file which libraries it loads, which names it imports, and which system calls its own code makes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

EM_X86_64 = "EM_X86_64"
SHF_EXECINSTR = 4
PF_X = 1
GO_SECTIONS = (".go.buildinfo", ".note.go.buildid")
NUMBERED_CALL = re.compile(rb"\xb8(..\x00\x00)[^\xe8\xe9\xc3]{0,12}?\x0f\x05", re.DOTALL)
"""The machine code of a system call with a known number: `mov $number,%eax`, a few loads of arguments (no call, jump or
return), `syscall`.
"""
CALL = re.compile(rb"\x0f\x05(?=\x48\x3d|\xc3|\x48\x85\xc0|\x85\xc0|\x48\x83|\x3d\x01\xf0|\x48\x89|\x49\x89|\x5d\xc3)")
"""The machine code of a `syscall` instruction and of a test of its result. The two bytes of `syscall` alone also occur
inside of other instructions.
"""
TIME_STAMP = re.compile(rb"(?:\x0f\x31|\x0f\x01\xf9).{0,16}?\x48\xc1\xe2\x20", re.DOTALL)
"""The machine code of `rdtsc` or `rdtscp`, and of the shift that joins the two halves of its result."""
RANDOM = re.compile(rb"\x0f\xc7[\xf0-\xff].{0,8}?(?:[\x72\x73]|\x0f[\x42\x43\x82\x83\x92\x93])", re.DOTALL)
"""The machine code of `rdrand` or `rdseed` into a register, and of a test of the carry flag, which says whether a
random number was available.
"""
I386_CALL = re.compile(rb"\xb8..\x00\x00[^\xe8\xe9\xc3]{0,12}?\xcd\x80", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A program or library. `raw` is the number of its `syscall` instructions by the system call's number; -1 stands
    for numbers that are not constant.
    """

    path: Path
    needed: tuple[str, ...] = ()
    search: tuple[str, ...] = ()  # the folders of DT_RUNPATH or DT_RPATH, with $ORIGIN replaced
    imports: frozenset[str] = frozenset()
    raw: dict[int, int] = field(default_factory=dict)
    is_go: bool = False
    reads_time_stamp: bool = False
    calls_i386: bool = False
    draws_random: bool = False


@cache
def read_image(path: Path) -> Image | None:
    """Read a file; return None unless it is a readable x86-64 ELF file."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            if elf["e_machine"] != EM_X86_64 or elf.elfclass != 64:
                return None
            return _read(path, elf)
    except (ELFError, OSError, UnicodeDecodeError, ValueError):
        return None


def _read(path: Path, elf: ELFFile) -> Image:
    needed, search = _dynamic(path, elf)
    code = list(_code(elf))
    return Image(
        path=path,
        needed=needed,
        search=search,
        imports=_imports(elf),
        raw=_raw_calls(code),
        is_go=any(elf.get_section_by_name(name) is not None for name in GO_SECTIONS),
        reads_time_stamp=any(TIME_STAMP.search(part) for part in code),
        calls_i386=any(I386_CALL.search(part) for part in code),
        draws_random=any(RANDOM.search(part) for part in code),
    )


def _dynamic(path: Path, elf: ELFFile) -> tuple[tuple[str, ...], tuple[str, ...]]:
    needed: list[str] = []
    search: list[str] = []
    dynamic: Any
    for dynamic in elf.iter_segments("PT_DYNAMIC"):
        for tag in dynamic.iter_tags():
            if tag.entry.d_tag == "DT_NEEDED":
                needed.append(tag.needed)
            elif tag.entry.d_tag in ("DT_RUNPATH", "DT_RPATH"):
                text = tag.runpath if tag.entry.d_tag == "DT_RUNPATH" else tag.rpath
                search += [_filled_in(folder, path) for folder in text.split(":") if folder]
    return tuple(needed), tuple(search)


def _filled_in(folder: str, path: Path) -> str:
    origin = str(path.resolve().parent)
    for name, value in (("ORIGIN", origin), ("LIB", "lib/x86_64-linux-gnu"), ("PLATFORM", "x86_64")):
        folder = folder.replace(f"${{{name}}}", value).replace(f"${name}", value)
    return folder


def _imports(elf: ELFFile) -> frozenset[str]:
    symbols: Any = elf.get_section_by_name(".dynsym")
    if symbols is None:
        return frozenset()
    return frozenset(symbol.name for symbol in symbols.iter_symbols() if symbol["st_shndx"] == "SHN_UNDEF" and symbol.name)


def _code(elf: ELFFile) -> Iterator[bytes]:
    """Yield the bytes of the executable sections; if the file has no section headers, those of the executable segments."""
    sections = [section for section in elf.iter_sections() if section["sh_flags"] & SHF_EXECINSTR]
    if sections:
        yield from (section.data() for section in sections if section["sh_type"] != "SHT_NOBITS")
    else:
        yield from (segment.data() for segment in elf.iter_segments("PT_LOAD") if segment["p_flags"] & PF_X)


def _raw_calls(code: list[bytes]) -> dict[int, int]:
    found: Counter[int] = Counter()
    for part in code:
        numbered = [(match.end(), int.from_bytes(match[1], "little")) for match in NUMBERED_CALL.finditer(part)]
        ends = {end for end, number in numbered if number < 1024}
        found.update(number for _, number in numbered if number < 1024)
        unknown = sum(match.end() not in ends for match in CALL.finditer(part))
        if unknown:
            found[-1] += unknown
    return dict(found)
