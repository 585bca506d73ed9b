"""Mutations of an input: of its bytes, words and lines, and of the values of a document of YAML or JSON."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

WORDS = (
    *(
        b"-1 0 1 9 99999999999999999999 1e999 nan inf .inf -0 0x10 1_000 ~ null true [] {} [1-3] [1-1000] [ ] { } : , - # & *"
        b" ! | > % <<: *a &a \\ / .. ../../x /dev/null \xff \xc3\x28 \xe2\x80\xae \xc2\xb2 \x00 10Gbps 5s 1d2h 1TiB 2.5Gf"
        b" n[1-4] a[1-x] a[1- NodeName= slurm: hosts: workload: events: network: <host <link <zone <route <!DOCTYPE &lt; type"
        b" delay"
    ).split(b" "),
    b"9" * 5000,
    b"[" * 3000,
)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 1 << 31, 1 << 63, 1 << 64, 10**30, 0.5, -0.0, float("inf"), float("nan"), 1e308, "", "x",
    "1", "../../x", "/", "n[1-3]", "a[1-", "10Gbps", "5s", "-5s", "1TiB", "x" * 5000, "\u00b2", "\x00", "\n", [], {}, [[]],
    {"": None}, ["a", 1], {"a": {"b": 1}},
)  # fmt: skip


def _places(value: object) -> Iterator[tuple[Any, Any]]:
    """All containers of a value, each with every key or index of it."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def restructured(chance: random.Random, data: bytes) -> bytes:
    """A document of YAML or JSON with one to four of its values replaced, removed, renamed or moved."""
    document = yaml.safe_load(data)
    for _ in range(chance.randrange(1, 5)):
        places = list(_places(document))
        if not places:
            break
        container, key = chance.choice(places)
        how = chance.randrange(5)
        if how == 0:
            del container[key]
        elif how == 1 and isinstance(container, dict):
            container[str(chance.choice(VALUES))] = container.pop(key)
        elif how == 2:
            other, index = chance.choice(places)
            if isinstance(other, dict) == (index in other if isinstance(other, dict) else False):
                container[key] = copy.deepcopy(other[index])
        else:
            container[key] = copy.deepcopy(chance.choice(VALUES))
    return json.dumps(document, default=str).replace("Infinity", ".inf").replace("NaN", ".nan").encode()


def mutated(chance: random.Random, examples: Sequence[bytes]) -> bytes:
    """One of the examples, changed in one to eight places."""
    data = bytearray(chance.choice(examples))
    for _ in range(chance.randrange(1, 9)):
        at, length = chance.randrange(len(data) + 1), chance.choice((1, 1, 2, 5, 20, 200))
        how = chance.randrange(9)
        if how == 0:
            del data[at : at + length]
        elif how == 1:
            data[at:at] = chance.choice(WORDS)
        elif how == 2:
            data[at : at + length] = chance.choice(WORDS)
        elif how == 3:
            data[at:at] = data[at : at + length] * chance.choice((1, 2, 50))
        elif how == 4 and data:
            data[at % len(data)] ^= 1 << chance.randrange(8)
        elif how == 5:
            other = chance.choice(examples)
            start = chance.randrange(len(other) + 1)
            data[at:at] = other[start : start + length * 4]
        elif how == 6:
            data[at : at + length] = bytes(chance.randrange(256) for _ in range(length))
        elif how == 7:
            lines = data.split(b"\n")
            lines[chance.randrange(len(lines))] = lines[chance.randrange(len(lines))]
            data = bytearray(b"\n".join(lines))
        else:
            begin = data.rfind(b" ", 0, at) + 1
            end = data.find(b" ", at) if data.find(b" ", at) >= 0 else len(data)
            data[begin:end] = chance.choice(WORDS)
    return bytes(data)
