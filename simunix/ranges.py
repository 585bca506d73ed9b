"""Read and write host lists such as `node[1-16]`, `n[001-128,200]`, `a,b[1-2]`. A list keeps the order and repetitions
of its names.

The order of hosts decides their addresses, and so the event log of a run. If a host occurs twice, the caller reports an
error. That is why ClusterShell's NodeSet is not used here. NodeSet is a set: it sorts names (`n[3,1]` becomes n1, n3),
merges repeated names, and refuses ranges of mixed width (`n[001-3]`). It also gives a meaning to characters that no
host name has (`!`, `&`, `@`, `1-9/2`). A wrapper around NodeSet would need all of the functions below.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\Z")
_NUMBER = "[0-9]{1,18}"
_DIGITS = re.compile(_NUMBER)
HOSTS_MAX = 100_000


def split_hosts(text: str) -> list[str]:
    """Split a host list at the commas that are not inside brackets, and return the parts."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _pieces(text: str) -> list[list[str]]:
    """Return, in alternation, the texts outside of brackets and the numbers within brackets: the alternatives for each
    part of a name.
    """
    found: list[list[str]] = []
    while "[" in text:
        prefix, _, rest = text.partition("[")
        inside, closing, text = rest.partition("]")
        if not closing:
            raise ValueError("'[' without ']'")
        found += [[prefix], _numbers(inside)]
    return [*found, [text]]


def _numbers(inside: str) -> list[str]:
    """Return the numbers in a pair of brackets as texts, as they are written, with zero padding."""
    numbers: list[str] = []
    for part in inside.split(","):
        first, dash, last = part.partition("-")
        last = last if dash else first
        if not (_DIGITS.fullmatch(first) and _DIGITS.fullmatch(last)) or not 0 <= int(last) - int(first) < HOSTS_MAX:
            raise ValueError(f"expected a range such as [1-16], got [{part:.60}]")
        numbers += [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
        _check_count(len(numbers))
    return numbers


def _check_count(count: int) -> None:
    if count > HOSTS_MAX:
        raise ValueError(f"more than {HOSTS_MAX:,} names")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")


def expand_hosts(text: str) -> list[str]:
    """Return all names of a host list, in the written order, with zero padding kept. Raises ValueError for a malformed
    list.
    """
    names: list[str] = []
    for part in split_hosts(text.strip()):
        try:
            pieces = _pieces(part.strip())
            _check_count(len(names) + math.prod(map(len, pieces)))
        except ValueError as error:
            raise ValueError(f"host list {_short(text)}: {error}") from None
        names += map("".join, itertools.product(*pieces))
    for name in names:
        if not _NAME.match(name) or len(name) > 63:
            raise ValueError(f"host list {_short(text)}: {_short(name)} is no host name (letters, digits, '-', '.')")
    return names


_NUMBERED = re.compile(rf"(.*?)({_NUMBER})([^0-9]*)\Z")


def fold_hosts(names: Iterable[str]) -> str:
    """Return a short host list of the names, in their order, such as `node[01-16],login`. `expand_hosts` returns the
    same names.
    """
    parts: list[tuple[str, str, list[list[str]]]] = []  # prefix, suffix, and ranges of numbers as texts: first and last number
    for name in names:
        found = _NUMBERED.match(name)
        prefix, digits, suffix = found.groups() if found else (name, "", "")
        if not parts or parts[-1][:2] != (prefix, suffix) or not digits:
            parts.append((prefix, suffix, [[digits, digits]]))
            continue
        ranges = parts[-1][2]
        first, last = ranges[-1]
        if last and f"{int(last) + 1:0{len(first)}d}" == digits:
            ranges[-1][1] = digits
        else:
            ranges.append([digits, digits])
    return ",".join(_folded(*part) for part in parts)


def _folded(prefix: str, suffix: str, ranges: list[list[str]]) -> str:
    texts = [first if first == last else f"{first}-{last}" for first, last in ranges]
    is_one = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
    return f"{prefix}{texts[0]}{suffix}" if is_one else f"{prefix}[{','.join(texts)}]{suffix}"
