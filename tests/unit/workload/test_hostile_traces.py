"""Files from elsewhere: dialects that load, and damaged, endless or hostile ones that end in one line."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.workload import swf, text
from simunix.workload.dialects import METACENTRUM_2009, SOFT_WALLTIME, job_number
from simunix.workload.formats import read_trace
from simunix.workload.swf import read_swf

LINE = "1 10 5 100 4 -1 -1 8 200 -1 1 3 1 -1 1 -1 -1 -1"
FEW = settings(max_examples=60, deadline=None)


def written(folder: Path, content: str | bytes, name: str = "t.swf") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# Dialects


def test_bzip2(tmp_path: Path) -> None:
    assert read_swf(written(tmp_path, bz2.compress(LINE.encode()))).jobs["job"].tolist() == [1]


def test_byte_order_mark_and_old_line_ends(tmp_path: Path) -> None:
    found = read_swf(written(tmp_path, b"\xef\xbb\xbf" + f"; Version: 2\r{LINE}\r{LINE}\r".encode()))
    assert found.comments == (" Version: 2",)
    assert len(found.jobs) == 2


def test_remarks_behind_a_line(tmp_path: Path) -> None:
    assert len(read_swf(written(tmp_path, LINE + " ; restarted\n" + LINE + " x;y\n")).jobs) == 2


def test_whole_numbers_written_as_floats(tmp_path: Path) -> None:
    path = written(tmp_path, LINE.replace(" 4 ", " 4.0 ") + "\n" + LINE.replace(" 8 ", " 8.000 ") + " extra\n")
    assert read_swf(path).jobs[["allocated", "requested"]].to_numpy().tolist() == [[4, 8], [4, 8]]


@pytest.mark.parametrize(
    ("word", "number"), [("42.arien.ics.muni.cz", 42), ("42[16921]", 42), ("42[].server", 42), ("42[3].server", 42)]
)
def test_job_numbers_of_pbs(tmp_path: Path, word: str, number: int) -> None:
    assert job_number(word) == number
    assert read_swf(written(tmp_path, word + LINE[1:])).jobs["job"].tolist() == [number]


def test_augmented_swf_of_cesnet(tmp_path: Path) -> None:
    """More columns, words in them, and dates as submissions (METACENTRUM-2013-1)."""
    line = LINE.replace(" 10 ", " 1356994806 ")
    later = LINE.replace(" 10 ", " 1356994816 ")
    found = read_swf(written(tmp_path, f"; Version: 2.2\n{line} 1:ppn=4:x86,linux 7\n{later} 2:ppn=2 7\n"))
    assert found.jobs["submit_s"].tolist() == [0.0, 10.0]
    assert found.header["UnixStartTime"] == "1356994806"


def test_soft_walltimes_of_cerit(tmp_path: Path) -> None:
    """Ten columns, memory with a decimal comma, queues by name (jsspp.org/workload, `softwall`)."""
    rows = (
        "16922[16921] 1609455600 12 3600 4 4294967296,0 user7 default 7200 -1\n16923 1609455610 0 60 1 1024 user8 long 90 80\n"
    )
    found = read_swf(written(tmp_path, "; Note: jobID arrival wait …\n" + rows))
    first, second = found.records
    assert (first.job, first.submit_s, first.wait_s, first.runtime_s, first.requested, first.requested_s) == (
        *(16922, 0.0, 12.0, 3600.0, 4),
        7200.0,
    )
    assert first.requested_memory_kib == 1024 * 1024
    assert (second.submit_s, second.user, second.queue, second.allocated) == (10.0, 2, 2, -1)
    assert " Note: queue 1: default" in found.comments
    assert f" Note: read as the dialect of {SOFT_WALLTIME.name}" in found.comments


def test_metacentrum_as_received(tmp_path: Path) -> None:
    row = "7.skirit\tann\tshort\t2\t1\t3,4\t1000\t1230768000\t1230768005\t1230768105\t100\t0\tcl1-2\n"
    found = read_swf(written(tmp_path, row))
    record = found.records[0]
    assert (record.job, record.allocated, record.wait_s, record.runtime_s, record.memory_kib) == (7, 2, 5.0, 100.0, 1000.0)
    assert f" Note: read as the dialect of {METACENTRUM_2009.name}" in found.comments
    with pytest.raises(SimunixError, match=r"t\.swf:2: end_s: expected a number, got 'later'"):
        read_swf(written(tmp_path, row + row.replace("1230768105", "later")))


# What cannot be a trace


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (LINE + "\n" + LINE.replace(" 4 ", " \0 "), "t.swf:2: not a text file (byte 0x00)"),
        (LINE.encode("utf-16"), "t.swf:1: not a text file"),
        (bytes(range(256)), "t.swf:1: not a text file"),
        (b"\x7fELF\2\1\1", "t.swf:1: not a text file"),
        (gzip.compress((LINE + "\n").encode() * 99, mtime=0)[:-9], "t.swf:1: gzip data is damaged or cut off"),
        (gzip.compress(LINE.encode(), mtime=0) + b"garbage", "gzip data is damaged"),
        (lzma.compress(LINE.encode())[:-9], "xz data is damaged or cut off"),
        (bz2.compress(LINE.encode())[:-4], "bzip2 data is damaged"),
        (b"BZh9" + b"x" * 50, "bzip2 data is damaged"),
        (LINE.replace(" 4 ", " " + "9" * 400 + " "), "t.swf:1: allocated: 9999"),
        (LINE.replace(" 4 ", " " + "x" * 400 + " "), "t.swf:1: allocated: expected a number, got 'xxxx"),
        (LINE.replace(" 4 ", " 0x4 "), "t.swf:1: allocated: expected a number, got '0x4'"),
        (LINE.replace(" 100 ", " 1_0 ") + "\n" + LINE.replace(" 100 ", " inf "), "t.swf:2: runtime_s: inf is out of range"),
        (LINE.replace("1 ", "one ", 1), "t.swf:1: job: expected a number, got 'one'"),
        (LINE + "\n" + LINE[:-3] + "; a remark", "t.swf:2: expected 18 fields, got 17"),
        ("<html><body>404</body></html>\n", "t.swf:1: expected 18 fields, got 1"),
    ],
)
def test_one_line_with_file_and_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(SimunixError) as raised:
        read_swf(written(tmp_path, content))
    assert message in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress], ids=["gz", "xz", "bz2"])
def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]) -> None:
    monkeypatch.setattr(text, "MOST_BYTES", 1 << 20)
    path = written(tmp_path, pack(b"; \n" * 20_000_000), "bomb.swf.gz")
    with pytest.raises(
        SimunixError, match=r"bomb\.swf\.gz: more than 1,048,576 bytes \(unpacked; the file itself has .* bytes"
    ):
        read_swf(path)


@pytest.mark.parametrize("end", [b"", b"\n" + LINE.encode()])
def test_a_line_without_end(tmp_path: Path, end: bytes) -> None:
    with pytest.raises(SimunixError, match=r"t\.swf:2: a line of more than 1,048,576 bytes"):
        read_swf(written(tmp_path, LINE.encode() + b"\n" + b"1 " * text.LONGEST_LINE + end))


def test_many_lines_are_not_one(tmp_path: Path) -> None:
    assert len(read_swf(written(tmp_path, (LINE + "\n") * 50_000)).jobs) == 50_000


def test_a_folder_is_no_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.swf").mkdir()
    assert main(["workload", "stats", str(tmp_path / "t.swf")]) != 0
    assert capsys.readouterr().err.count("\n") == 1


@FEW
@given(st.binary(max_size=300), st.sampled_from([bytes, gzip.compress, lzma.compress, bz2.compress]))
@example(b"1 2 3 4 5\n1 2 3", bytes)
@example(b";\r;", bytes)
def test_any_bytes_load_or_are_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, pack: Callable[[bytes], bytes]
) -> None:
    path = written(tmp_path_factory.mktemp("any"), pack(content))
    refused = refusal(lambda: read_swf(path))
    assert refused is None or (refused.startswith(str(path)) and len(refused.splitlines()) == 1)


def refusal(read: Callable[[], object]) -> str | None:
    try:
        read()
    except SimunixError as error:
        return str(error)
    return None


WORDS = st.sampled_from(
    ["1", "-1", "4.0", "4.5", "1e3", "nan", "x", "7.a", "7[1]", ";", "1e400", "1356994806", "é", "+5", "--1", "1e99"]
)


@FEW
@given(st.lists(st.lists(WORDS, max_size=21), max_size=5))
@example([["7.a"], ["4.5"] * 18])
def test_any_lines_load_or_are_refused(tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]]) -> None:
    """Also: the quick way never finds what the careful one would not."""
    content = "\n".join(" ".join(words) for words in lines)
    path = written(tmp_path_factory.mktemp("lines"), content)
    quick = swf._fast(content.encode())
    refused = refusal(lambda: swf._careful(content, path))
    assert refused is None or (quick is None and len(refused.splitlines()) == 1)
    assert quick is None or quick.equals(swf._careful(content, path)[0])


# sacct and Batsim

HEAD = "JobID|Submit|Start|End|AllocCPUS\n"
ROW = "1|2024-02-29T12:00:10|2024-02-29T12:00:20|2024-02-29T12:01:20|8\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD + ROW + ROW.replace("8", "8|9"), "j.sacct:3: expected 5 fields as in the first line, got 6"),
        (HEAD + ROW + "2|2024-02-29T12:00:10", "j.sacct:3: expected 5 fields as in the first line, got 2"),
        (HEAD + ROW + "\0", "j.sacct:3: not a text file"),
        (HEAD.replace("End", "Ende"), "j.sacct: column End is missing"),
        ("{}", "j.sacct: column JobID is missing"),
    ],
)
def test_bad_sacct(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(SimunixError) as raised:
        read_trace(written(tmp_path, content, "j.sacct"))
    assert message in str(raised.value)


def test_packed_sacct(tmp_path: Path) -> None:
    assert len(read_trace(written(tmp_path, gzip.compress((HEAD + ROW).encode()), "j.sacct.gz")).jobs) == 1


@pytest.mark.parametrize(
    "content", ["", "[]", "[" * 100_000, '{"jobs": 1}', "\0", '{"nb_res": 1e999, "jobs": [], "profiles": {}}']
)
def test_bad_batsim(tmp_path: Path, content: str) -> None:
    with pytest.raises(SimunixError) as raised:
        read_trace(written(tmp_path, content, "w.json"))
    assert str(raised.value).startswith(f"{tmp_path}/w.json")
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["t.swf.bz2", "t.json.gz"])
def test_what_is_not_written_packed(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, LINE)
    assert main(["workload", "convert", str(path), str(tmp_path / name)]) != 0
    assert "written packed are only .swf.gz and .swf.xz" in capsys.readouterr().err
