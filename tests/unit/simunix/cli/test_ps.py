"""The table of `simunix ps`: whole, or cut to the width of a terminal."""

from __future__ import annotations

from simunix.cli.ps import COLUMNS, Row, format_table

ROWS: list[Row] = [
    COLUMNS,
    (
        "node1",
        "12",
        "12",
        "/usr/sbin/slurmd -D -f /etc/slurm.conf",
        "4",
        "parked",
        "poll",
        "0.000378",
        "descriptor 3 (TCP listener)",
    ),
    ("n2", "3", "3", "sleep 1", "1", "parked", "nanosleep", "-", ""),
]


def test_the_table_is_whole_without_a_width() -> None:
    lines = format_table(ROWS, ("TID",)).splitlines()
    assert lines[1] == (
        "node1   12  /usr/sbin/slurmd -D -f /etc/slurm.conf        4  parked  poll       0.000378  descriptor 3 (TCP listener)"
    )
    assert format_table(ROWS, ("TID",), 200).splitlines() == lines


def test_columns_are_cut_and_nothing_is_wrapped() -> None:
    narrow = format_table(ROWS, ("TID",), 100).splitlines()
    assert [len(line) <= 100 for line in narrow] == [True] * 3
    assert narrow[0].split() == [word for name in COLUMNS if name != "TID" for word in name.split()]
    assert "/usr/sbin/slurmd -D …" in narrow[1] and narrow[1].endswith("descriptor 3 (TCP listener)")
    for width in (60, 20, 1):
        lines = format_table(ROWS, ("TID",), width).splitlines()
        assert len(lines) == 3 and max(map(len, lines)) <= width
    assert format_table(ROWS, ("TID",), 60).splitlines()[1].endswith("…")
