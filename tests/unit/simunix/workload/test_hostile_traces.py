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
from simunix.workload.formats import swf, text
from simunix.workload.formats.by_name import read_trace
from simunix.workload.formats.dialects import METACENTRUM_2009, SOFT_WALLTIME, job_number
from simunix.workload.formats.swf import read_swf

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
    path = written(tmp_path, pack(b"; \n" * 2_000_000), "bomb.swf.gz")
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

BATSIM = """{"nb_res": 4, "jobs": [{"id": %s, "subtime": %s, "res": %s, "profile": "p"}],
"profiles": {"p": {"type": "delay", "delay": %s}}}"""
HEAD = "JobID|Submit|Start|End|AllocCPUS\n"
LIMITS = "JobID|Submit|Start|End|AllocCPUS|Timelimit{}\n1|0|1|2|3|{}\n"
ROW = "1|2024-02-29T12:00:10|2024-02-29T12:00:20|2024-02-29T12:01:20|8\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD + ROW + ROW.replace("8", "8|9"), "j.sacct:3: expected 5 fields as in the first line, got 6"),
        (HEAD + ROW + "2|2024-02-29T12:00:10", "j.sacct:3: expected 5 fields as in the first line, got 2"),
        (HEAD + ROW + "\0", "j.sacct:3: not a text file"),
        (HEAD.replace("End", "Ende"), "j.sacct: column End is missing"),
        ("{}", "j.sacct: column JobID is missing"),
        (HEAD + ROW + ROW.replace("8\n", "9" * 30 + "\n"), "j.sacct:3: AllocCPUS: expected a whole number, got '9999"),
        (HEAD + ROW.replace("8\n", "-8\n"), "j.sacct:2: AllocCPUS: expected a whole number, got '-8'"),
        (HEAD + ROW.replace("8\n", "many\n"), "j.sacct:2: AllocCPUS: expected a whole number, got 'many'"),
        (HEAD + "9" * 30 + ROW[1:], "j.sacct:2: JobID: expected a job's number, got '9999"),
        (
            HEAD + ROW.replace("12:01:20", "12:00:15"),
            "j.sacct:2: End: expected a moment from Start on, got '2024-02-29T12:00:15'",
        ),
        (HEAD + ROW.replace("12:00:20", "12:00:00"), "j.sacct:2: Start: expected a moment from Submit on"),
        (HEAD + ROW.replace("2024-02-29T12:00:10", "1e30"), "j.sacct:2: Submit: expected a date"),
        (HEAD + ROW.replace("2024-02-29T12:00:10", "9999999999999999"), "j.sacct:2: Submit: expected a date"),
        (LIMITS.format("Raw", "-5"), "j.sacct:2: TimelimitRaw: expected a limit as sacct prints it, got '-5'"),
        (LIMITS.format("", "1e99:00:00"), "j.sacct:2: Timelimit: expected a limit as sacct prints it, got '1e99:00:00'"),
    ],
)
def test_bad_sacct(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(SimunixError) as raised:
        read_trace(written(tmp_path, content, "j.sacct"))
    assert message in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1
    assert len(str(raised.value)) < 300


FIELD = st.sampled_from(
    ["", "1", "-1", "7_3", "Unknown", "2024-02-29T12:00:00", "1e30", "nan", "inf", "x", "1-00:00:00", "9" * 40]
)


@FEW
@given(st.lists(st.lists(FIELD, min_size=6, max_size=6), max_size=5), st.sampled_from(["TimelimitRaw", "Timelimit", "Account"]))
def test_any_dump_loads_or_is_refused(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], column: str) -> None:
    text = "".join("|".join(row) + "\n" for row in [[*HEAD.strip().split("|"), column], *rows])
    path = written(tmp_path_factory.mktemp("dump"), text, "j.sacct")
    refused = refusal(lambda: read_trace(path))
    assert refused is None or (refused.startswith(str(path)) and len(refused.splitlines()) == 1)


@pytest.mark.parametrize(
    ("name", "text", "seconds"),
    [
        ("Raw", "90", 5400),
        ("Raw", "UNLIMITED", -1),
        ("Raw", "", -1),
        ("", "01:30:00", 5400),
        ("", "2-00:00:10", 172810),
        ("", "Partition_Limit", -1),
    ],
)
def test_limits_of_sacct(tmp_path: Path, name: str, text: str, seconds: float) -> None:
    assert read_trace(written(tmp_path, LIMITS.format(name, text), "j.sacct")).jobs["requested_s"].tolist() == [seconds]


def test_accounts_of_sacct_are_groups_where_there_are_no_groups(tmp_path: Path) -> None:
    text = HEAD.replace("JobID", "JobID|Account") + ROW.replace("1|", "1|physics|", 1) + ROW.replace("1|", "2||", 1)
    found = read_trace(written(tmp_path, text, "j.sacct"))
    assert found.jobs["group"].tolist() == [1, -1] and " Note: group 1: physics" in found.comments
    both = text.replace("JobID|", "JobID|Group|").replace("1|physics", "1|users|physics").replace("2||", "2|staff||")
    found = read_trace(written(tmp_path, both, "j.sacct"))
    assert found.jobs["group"].tolist() == [2, 1] and " Note: group 1: staff" in found.comments


def test_packed_sacct(tmp_path: Path) -> None:
    assert len(read_trace(written(tmp_path, gzip.compress((HEAD + ROW).encode()), "j.sacct.gz")).jobs) == 1


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "[" * 100_000, '{"jobs": 1}', "\0", '{"nb_res": 1e999, "jobs": [], "profiles": {}}'),
        BATSIM % ("1", "1", "9" * 30, "1"),
        BATSIM % ("9" * 30, "1", "1", "1"),
        BATSIM % ("1", "1e300", "1", "1"),
        *(BATSIM % ("1", "1", "1", delay) for delay in ("-1", "1e999", "null", '"x"', "true", "[]")),
    ],
)
def test_bad_batsim(tmp_path: Path, content: str) -> None:
    with pytest.raises(SimunixError) as raised:
        read_trace(written(tmp_path, content, "w.json"))
    assert str(raised.value).startswith(f"{tmp_path}/w.json")
    assert len(str(raised.value).splitlines()) == 1


def test_ids_that_are_too_long_to_be_numbers_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, BATSIM % (f'"{"9" * 30}"', "1", "1", "1"), "w.json")
    assert read_trace(path).jobs["job"].tolist() == [1]


@pytest.mark.parametrize("name", ["t.swf.bz2", "t.json.gz"])
def test_what_is_not_written_packed(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, LINE)
    assert main(["workload", "convert", str(path), str(tmp_path / name)]) != 0
    assert "only .swf.gz and .swf.xz can be written packed" in capsys.readouterr().err
