"""Reads messages.def, and writes what Python knows of it: `rsg_server/messages.py`. C includes the table itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "tables/messages.def"
MODULE = TABLE.parents[2] / "rsg_server/messages.py"
INCLUDED = '#include "tables/messages.def"'
"""The line of protocol.h at which the preprocessor takes the rows."""
LETTERS = {"i": "integer", "b": "bytes", "s": "text"}
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING = r'((?:\s*"[^"]*")+)'
_ROW = re.compile(rf'\s*(?:GROUP\("([^"]+)"\)|MESSAGE\((\w+), (\d+), "([ibs]*)",{_STRING},{_STRING},{_STRING}\))\s*')
_HEAD = '''"""The messages between shim and server. Generated from csrc/tables/messages.def by docs/generate.py."""

from enum import IntEnum, unique
from typing import Final


@unique
class Op(IntEnum):
    """What a message asks for."""

'''


class TableError(Exception):
    """The table does not say what it should; the message says where, and how to mend it."""


@dataclass(frozen=True, slots=True)
class Message:
    """A row: `shape` has a letter for each of the `fields`, `reply` is empty where the sender gets none."""

    group: str
    name: str
    number: int
    shape: str
    fields: tuple[str, ...]
    reply: str
    meaning: str


def _joined(strings: str) -> str:
    """The text of string literals that stand behind one another."""
    return "".join(re.findall(r'"([^"]*)"', strings))


def read_messages(text: str, where: str = TABLE.name) -> list[Message]:
    """The rows of a table. Raises TableError with file and line for what is no row, and for two rows of one name or number."""
    plain = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text).rstrip()
    messages: list[Message] = []
    group, at = "", len(plain) - len(plain.lstrip())
    while at < len(plain):
        place = f"{where}:{plain.count(chr(10), 0, at) + 1}"
        found = _ROW.match(plain, at)
        if found is None:
            raise TableError(
                f"{place}: not a row of the table: {plain[at:].splitlines()[0]}; the head of the file tells the form"
            )
        at = found.end()
        if found[1]:
            group = found[1]
            continue
        fields = tuple(filter(None, _joined(found[5]).split("; ")))
        messages.append(Message(group, found[2], int(found[3]), found[4], fields, _joined(found[6]), _joined(found[7])))
        _check(messages, place)
    return messages


def _check(messages: list[Message], place: str) -> None:
    *others, last = messages
    if len(last.fields) != len(last.shape):
        raise TableError(f"{place}: {last.name} has {len(last.shape)} letters and {len(last.fields)} fields; name each field")
    if not last.meaning:
        raise TableError(f"{place}: {last.name} has no meaning; say what is asked for")
    for other in others:
        if other.name == last.name or other.number == last.number:
            free = max(message.number for message in messages) + 1
            raise TableError(f"{place}: {other.name} has number {other.number} already; take another name, and number {free}")


def messages() -> list[Message]:
    """The rows of the table."""
    return read_messages(TABLE.read_text())


def for_cffi(header: str) -> str:
    """A header as the preprocessor makes it: the table is included twice, for numbers, and for how many fields there are."""
    numbers = "".join(f"OP_{message.name} = {message.number},\n" for message in messages())
    fields = "".join(f"FIELDS_OF_OP_{message.name} = {len(message.fields)},\n" for message in messages())
    return header.replace(INCLUDED, numbers, 1).replace(INCLUDED, fields, 1)


def module() -> str:
    """The text of `rsg_server/messages.py`."""
    rows = messages()
    members = "".join(f"    {message.name} = {message.number}\n" for message in rows)
    shapes = "".join(f'    Op.{message.name}: "{message.shape}",\n' for message in rows)
    return (
        f"{_HEAD}{members}\n\nSHAPES: Final[dict[int, str]] = {{\n{shapes}}}\n"
        '"""The fields of each message: `i` an integer, `b` bytes, `s` text."""\n'
    )
