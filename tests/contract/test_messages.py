"""One table of messages: C, Python, handlers and the page agree with the table, and no other file contains the number
or the shape of a message.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rsg_server._native import lib

from rsg_server.messages import SHAPES, Op
from tests.contract.test_layers import ROOT
from tests.unit.rsg_server.fakes import HANDLERS

sys.path.insert(0, str(ROOT / "csrc/build"))
import message_table

HEAD = '/* a head */\nGROUP("Life")\n'
ROW = 'MESSAGE(HELLO, 1, "ib", "kind; bytes",\n        "[0, "\n        "seed]", "hello")\n'
HEADERS = sorted((ROOT / "csrc/shared").rglob("*.h"))


def test_what_is_generated_is_up_to_date() -> None:
    assert message_table.MODULE.read_text() == message_table.module(), "run python docs/generate.py"


def test_c_has_the_numbers_and_the_fields_of_the_table() -> None:
    for message in message_table.messages():
        assert getattr(lib, f"OP_{message.name}") == Op[message.name] == message.number
        assert getattr(lib, f"FIELDS_OF_OP_{message.name}") == len(SHAPES[message.number]) == len(message.fields)
    assert len(Op) == len(SHAPES) == len(message_table.messages())


def test_every_message_has_a_handler_which_checks_its_shape() -> None:
    assert {handler: HANDLERS[handler].shape for handler in HANDLERS} == SHAPES


def test_no_message_is_declared_elsewhere() -> None:
    for path in HEADERS:
        assert not re.findall(r"\bOP_\w+\s*=", path.read_text()), f"{path.name}: a message is a row of messages.def"
    for path in (ROOT / "csrc/shim").rglob("*.[ch]"):
        assert not re.findall(r"request_begin\([^;]*OP_\w+", path.read_text()), f"{path}: request_start counts the fields"
        assert not re.findall(r"\bOP_\w+\s*=(?!=)", path.read_text()), f"{path.name}: a message is a row of messages.def"
    for path in (ROOT / "rsg_server/handlers").rglob("*.py"):
        assert path.name == "table.py" or not re.findall(r"\bHandler\(", path.read_text()), f"{path}: handled() has the shapes"


def test_rows_are_read() -> None:
    (hello,) = message_table.read_messages(HEAD + ROW)
    assert (hello.group, hello.name, hello.number, hello.shape) == ("Life", "HELLO", 1, "ib")
    assert (hello.fields, hello.reply, hello.meaning) == (("kind", "bytes"), "[0, seed]", "hello")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ROW.replace("MESSAGE", "MESAGE"), 'messages.def:3: not a row of the table: MESAGE(HELLO, 1, "ib", "kind; bytes",'),
        (ROW.replace('"ib"', '"ix"'), "messages.def:3: not a row of the table"),
        (ROW.replace('"ib"', '"ibi"'), "messages.def:3: HELLO has 3 letters and 2 fields; name each field"),
        (ROW.replace('"hello"', '""'), "messages.def:3: HELLO has no meaning; say what is asked for"),
        (ROW + ROW, "messages.def:6: HELLO has number 1 already; take another name, and number 2"),
        (ROW + ROW.replace("HELLO", "BYE"), "messages.def:6: HELLO has number 1 already; take another name, and number 2"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, words: str) -> None:
    with pytest.raises(message_table.TableError, match=re.escape(words)):
        message_table.read_messages(HEAD + text)


@given(st.text(alphabet='MESAG()"ib;,/* \n10', max_size=80))
def test_nothing_but_rows_is_read_and_nothing_hangs(text: str) -> None:
    outcome = "messages.def:0: "
    try:
        message_table.read_messages(HEAD + text)
    except message_table.TableError as error:
        outcome = str(error)
    assert re.match(r"messages\.def:\d+: ", outcome)


def test_the_page_lists_each_message() -> None:
    page = Path(ROOT / "docs/internals/messages.md").read_text()
    for message in message_table.messages():
        assert f"| `{message.name}` | {message.number} |" in page
