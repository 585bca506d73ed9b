"""CSV files with fixed columns: what is right is read, what is wrong is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.columns import read_columns

COLUMNS, KINDS = ("name", "count", "rate"), (str, int, float)


def read(path: Path) -> list[tuple[object, ...]]:
    return list(read_columns(path, COLUMNS, KINDS, SimunixError, "run again"))


def test_fields_are_of_their_kinds(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text('name,count,rate\n"a,b",1,2\nc,3,4.5\n')
    assert read(tmp_path / "f.csv") == [("a,b", 1, 2.0), ("c", 3, 4.5)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ":1: expected the columns name,count,rate"),
        (b"name,rate,count\n", ":1: expected the columns name,count,rate"),
        (b"name,count,rate\na,1,2\nb,x,2\n", ":3: count: expected a whole number, got 'x'"),
        (b"name,count,rate\na,1\n", ":2: expected 3 fields, name,count,rate, got 2"),
        (b"name,count,rate\na,1,2,3\n", ":2: expected 3 fields, name,count,rate, got 4"),
        (b'name,count,rate\n"a\nb",1,2\nc,1,\n', ":4: rate: expected a number, got ''"),
        (b"name,count,rate\n\xff,1,2\n", ": not a text in UTF-8 (invalid start byte); expected name,count,rate"),
        (
            b"name,count,rate\n" + b"a" * 200_000 + b",1,2\n",
            ":2: field larger than field limit (131072); expected name,count,rate",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(content)
    with pytest.raises(SimunixError) as caught:
        read(path)
    assert str(caught.value) == f"{path}{message}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SimunixError, match=r"f\.csv: No such file or directory; run again"):
        read(tmp_path / "f.csv")
