"""`simunix bench traps`: from the two tables of a run to rows."""

from __future__ import annotations

from pathlib import Path

from simunix_bench.costs.traps import read_messages, read_places, rows_of_messages, rows_of_places

TRAPS = """program,symbol,file,offset,call,count
slurmctld,futex_wake+0x3,/lib/libc.so.6,0x10,futex,60
slurmctld,futex_wake+0x3,/lib/libc.so.6,0x12,futex,30
cat,,,0x0,read,109
rare,,,0x0,read,1
"""
MESSAGES = """program,message,wait,call,count
a,PARK,FD,poll,3
b,PARK,FD,poll,4
a,WAKE,,,5
"""


def test_rows_of_places(tmp_path: Path) -> None:
    file = tmp_path / "traps.csv"
    file.write_text(TRAPS)
    rows = [(row.name, row.text.strip(), row.value) for row in rows_of_places(read_places(file))]
    assert rows == [
        ("traps-cat", "cat: traps", 109),
        ("traps-cat-1", "read at ? (memory of no file)", 109),
        ("traps-slurmctld", "slurmctld: traps", 90),
        ("traps-slurmctld-1", "futex at futex_wake+0x3 (libc.so.6)", 90),
    ]


def test_rows_of_messages(tmp_path: Path) -> None:
    file = tmp_path / "server_messages.csv"
    file.write_text(MESSAGES)
    rows = [(row.name, row.text.strip(), row.value) for row in rows_of_messages(read_messages(file))]
    assert rows == [
        ("messages", "messages to the server", 12),
        ("messages-1", "PARK FD poll", 7),
        ("messages-2", "WAKE", 5),
    ]
