"""Host lists: `node[1-16]`, `n[001-128,200]`, `a,b[1-2]`. A list is a sequence: order and repetitions are kept.

The order decides addresses, and so the event log of a run; a host that is written twice is an error that its reader reports.
This is why ClusterShell's NodeSet does not serve here. NodeSet is a set: it sorts names (`n[3,1]` becomes n1, n3) and merges
those that occur twice, refuses ranges of mixed width (`n[001-3]`), and gives a meaning to characters that no host name has
(`!`, `&`, `@`, `1-9/2`). Code around it would split lists and ranges, keep their order and fold them again: all of the below.
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
    """Return the parts of a host list, as they are: it is split at the commas that are not inside brackets."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _pieces(text: str) -> list[list[str]]:
    """Return the texts between brackets and the numbers within them, in turns: what may stand at each place of a name."""
    found: list[list[str]] = []
    while "[" in text:
        prefix, _, rest = text.partition("[")
        inside, closing, text = rest.partition("]")
        if not closing:
            raise ValueError("'[' without ']'")
        found += [[prefix], _numbers(inside)]
    return [*found, [text]]


def _numbers(inside: str) -> list[str]:
    """Return the numbers of a pair of brackets, as they are written."""
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
    """Return all names of a host list, in the order written. Zero padding is kept. Raises ValueError for what is no
    host list.
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
    """Return the host list of these names, in their order: `node[01-16],login`. `expand_hosts` makes the same names of
    it.
    """
    parts: list[tuple[str, str, list[list[str]]]] = []  # prefix, suffix, ranges: first and last number as they are written
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
