"""Reading verdicts, comparing them, and heeding the list of known differences."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.cpython import FILES, FIRST
from tests.conformance.known import Entry, Known, differences, outdated
from tests.conformance.page import Row, page
from tests.conformance.verdicts import ERROR, FAIL, OK, SKIPPED, UNFINISHED, Run, file_of, read_junit, read_output

JUNIT = """<testsuites><testsuite>
<testcase name="test.test_a.T.good" status="run" result="completed" time="0.1" />
<testcase name="test.test_a.T.bad" status="run" result="completed"><failure type="x" message="y" /></testcase>
<testcase name="test.test_a.T.worse" status="run" result="completed"><error type="x" message="y" /></testcase>
<testcase name="test.test_a.T.not" status="run" result="completed"><skipped>no</skipped></testcase>
<testcase name="test.test_a.T.never" status="notrun" result="suppressed" />
</testsuite></testsuites>"""
OUTPUT = """test_good (test.test_a.T.good) ... ok
test_bad (test.test_a.T.bad) ... FAIL
test_not (test.test_a.T.not) ... skipped 'no'
test_last (test.test_a.T.last) ... """
KNOWN = Known((), (Entry(("test_a.T.bad", "test_a.U.*"), "because"), Entry(("test_b.T.x",), "elsewhere")))


def test_verdicts_of_a_report(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").write_text(JUNIT)
    verdicts = read_junit(tmp_path / "junit.xml")
    assert {name.rpartition(".")[2]: verdict for name, verdict in verdicts.items()} == {
        "good": OK,
        "bad": FAIL,
        "worse": ERROR,
        "not": SKIPPED,
        "never": SKIPPED,
    }
    assert {file_of(name) for name in verdicts} == {"test_a"}


def test_verdicts_of_a_run_that_was_cut_off() -> None:
    assert list(read_output(OUTPUT).values()) == [OK, FAIL, SKIPPED, UNFINISHED]


def test_a_run_survives_being_kept(tmp_path: Path) -> None:
    run = Run({"test_a.T.good": OK}, 1.5, "0")
    run.save(tmp_path / "new" / "a.json")
    assert Run.load(tmp_path / "new" / "a.json") == run


def test_differences_are_explained_by_the_list() -> None:
    native = {"test_a.T.good": OK, "test_a.T.bad": OK, "test_a.T.gone": OK}
    found = differences(native, {"test_a.T.good": OK, "test_a.T.bad": FAIL}, KNOWN)
    assert [(one.name, one.emulated, one.why) for one in found] == [
        ("test_a.T.bad", FAIL, "because"),
        ("test_a.T.gone", UNFINISHED, ""),
    ]


def test_what_differs_no_more_is_told_for_the_files_that_were_run() -> None:
    found = differences({"test_a.T.bad": OK}, {"test_a.T.bad": FAIL}, KNOWN)
    assert outdated(found, {"test_a"}, KNOWN) == ["test_a.U.*"]
    assert outdated([], {"test_b"}, KNOWN) == ["test_b.T.x"]
    assert outdated([], {"test_b"}, Known((), (Entry(("test_b.T.x",), "elsewhere", sometimes=True),))) == []


def test_the_page_counts_and_names() -> None:
    native, emulated = Run({"test_a.T.good": OK, "test_a.T.bad": OK}, 2.0, "0"), Run({"test_a.T.good": OK}, 1.0, "time limit")
    text = page([Row("test_a", native, emulated, differences(native.verdicts, emulated.verdicts, KNOWN))], KNOWN, "3", "p")
    assert "| `test_a` | 2 | 1 | 0 | 1 | 2.0 | 1.0 |" in text
    assert "**1 of 2 tests (50.00 %) of 1 files" in text
    assert "| `test_a.T.bad` | ok | unfinished | because |" in text


def test_our_own_list_can_be_read_and_speaks_of_files_that_we_run() -> None:
    known = Known.read()
    assert {file_of(test) for entry in (*known.left_out, *known.differences) for test in entry.tests} <= set(FILES)
    assert set(FIRST) < set(FILES)
    assert len(FILES) == len(set(FILES))


@pytest.mark.parametrize(
    "text", ["differences: [{tests: [test_a.T.x]}]", "differences: [{tests: [], why: x}]", "left_out: [{y: 1}]"]
)
def test_an_entry_without_tests_or_reason_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "known.yaml").write_text(text)
    with pytest.raises(ValueError, match="expected `tests`"):
        Known.read(tmp_path / "known.yaml")
