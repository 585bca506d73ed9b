"""Tests that are explored: called by many seeds, with the first failure made small, kept, and repeated."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from simunix.cli.main import main
from tests.conftest import IS_ANNOUNCED, PLUGIN, ROOT

Suite = Callable[..., pytest.RunResult]
GUIDE = ROOT / "docs" / "guide" / "testing-your-program.md"
BLOCKS = dict(re.findall(r'^```\w+ title="(\S+)"\n(.*?)^```$', GUIDE.read_text(), re.MULTILINE | re.DOTALL))
ADD, COUNT = BLOCKS["add.c"], BLOCKS["test_count.py"]
PLAIN = COUNT
QUICK = "@settings(phases=[Phase.generate], derandomize=True, max_examples=5)\n@given("
DRAWN = "from hypothesis import Phase, settings\n" + COUNT.replace("@given(", QUICK)
"""Hypothesis makes nothing small here, which takes it minutes."""
FAULTS = """
import pytest

@pytest.mark.simunix(explore=4)
def test_a_host_does_not_fail(emulation):
    a, b = emulation.hosts("a,b")
    emulation.nemesis(faults=["power"], start="1s", every="5s", heal="30s")
    ran = [host.start("sleep 60; echo done") for host in (a, b)]
    emulation.run(until="61s")
    assert [process.stdout for process in ran] == ["done\\n", "done\\n"]
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """Runs pytest on a file with this text; its temporary folders are below `tmp`."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(text: str, *arguments: str, tmp: str = "tmp", ini: str = "") -> pytest.RunResult:
        pytester.makepyfile(test_it=text)
        (pytester.path / "add.c").write_text(ADD)
        pytester.makeini(f"[pytest]\n{ini}\n")
        plugin = () if IS_ANNOUNCED else ("-p", PLUGIN)
        return pytester.runpytest_subprocess(*plugin, "--basetemp", tmp, "test_it.py", *arguments, timeout=600)

    return run


def capsule_of(result: pytest.RunResult) -> Path:
    """The capsule that the output of pytest names."""
    match = re.search(r"^capsule: (.+)$", result.stdout.str(), re.MULTILINE)
    assert match is not None, result.stdout.str()
    return Path(match[1])


@pytest.mark.slow
def test_a_failure_is_made_small_kept_and_repeated(suite: Suite, capsys: pytest.CaptureFixture[str]) -> None:
    result = suite(PLAIN, "-k", "not many")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *AssertionError: assert '1' == '2'",
            "*- simunix: exploration -*",
            "failed by seed * of 60; made small in * runs",
            "  0.00* s: a: add[[]*] is interrupted after about * calls",
            "  failed (test): AssertionError: assert '1' == '2'",
        ]
    )
    path = capsule_of(result)
    assert {"capsule.json", "choices.jsonl", "run1"} == {each.name for each in path.iterdir()}
    assert [each.name for each in path.parent.iterdir() if each.name != "programs"] == ["capsule"]
    digest = json.loads((path / "capsule.json").read_text())["digest"]
    assert json.loads((path / "run1/run.json").read_text())["events_sha256"] == digest
    again = suite(PLAIN, f"--simunix-replay={path}", tmp="again")
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["E *AssertionError: assert '1' == '2'"])
    (run,) = (path.parents[2] / "again").glob("simunix-*0/*/run1/run.json")
    assert json.loads(run.read_text())["events_sha256"] == digest
    assert main(["replay", str(path), "--story"]) == 0
    assert "is interrupted after" in capsys.readouterr().out
    assert main(["replay", str(path)]) == 2
    assert f"which only pytest can repeat: pytest 'test_it.py::test_none_is_lost' --simunix-replay={path}" in (
        capsys.readouterr().err
    )


@pytest.mark.slow
def test_hypothesis_draws_the_work_and_simunix_the_schedule(suite: Suite) -> None:
    result = suite(DRAWN, "-k", "many")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E *: test_none_is_lost_of_many(", "E *emulation=<cluster of a>,", "*- simunix: exploration -*", "capsule: *"]
    )
    assert "is interrupted after" in result.stdout.str()
    assert json.loads((capsule_of(result) / "capsule.json").read_text())["test"] == "test_it.py::test_none_is_lost_of_many"


@pytest.mark.slow
def test_the_nemesis_brings_faults_to_a_test(suite: Suite) -> None:
    result = suite(FAULTS, ini="simunix_minimise = 60")
    result.assert_outcomes(failed=1)
    capsule = json.loads((capsule_of(result) / "capsule.json").read_text())
    assert len(capsule["events"]) == 1
    result.stdout.re_match_lines([r"  \d+\.\d+ s: the power of [ab] is cut, for .*s"])


def test_an_explored_test_that_passes_leaves_nothing(suite: Suite, pytester: pytest.Pytester) -> None:
    passes = PLAIN.replace("range(2)", "range(1)").replace('== "2"', '== "1"').replace("explore=60", "explore=3")
    suite(passes, "-k", "not many").assert_outcomes(passed=1)
    assert not [path for path in (pytester.path / "tmp").glob("simunix-*") if not path.is_symlink()]


def test_an_option_sets_the_number_of_seeds_and_a_skip_ends_them(suite: Suite) -> None:
    text = """
        import pytest
        calls = []

        @pytest.mark.simunix(explore=50)
        def test_it(emulation):
            calls.append(emulation.seed)
            if len(calls) == 3:
                pytest.skip("enough")

        def test_count():
            assert len(calls) == 3
    """
    suite(text).assert_outcomes(passed=1, skipped=1)
    suite(text, "--simunix-explore=2", "-k", "not count").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("mark", "says"),
    [
        ("explore=0", "explore: expected how many seeds, a whole number from 1 on, got 0"),
        ("explore='many'", "explore: expected how many seeds, a whole number from 1 on, got 'many'"),
        ("explore=True", "explore: expected how many seeds, a whole number from 1 on, got True"),
    ],
)
def test_a_wrong_number_of_seeds_is_one_line(suite: Suite, mark: str, says: str) -> None:
    result = suite(f"import pytest\n\n@pytest.mark.simunix({mark})\ndef test_it(emulation): pass\n")
    result.stdout.fnmatch_lines([f"*test_it.py::test_it: @pytest.mark.simunix: {says}"])


def test_a_coroutine_cannot_be_explored(suite: Suite) -> None:
    result = suite("import pytest\n\n@pytest.mark.simunix(explore=2)\nasync def test_it(emulation): pass\n")
    assert "explore: the test is a coroutine" in result.stdout.str()


@pytest.mark.parametrize(
    ("words", "ini", "says"),
    [
        (("--simunix-replay=nowhere",), "", "--simunix-replay: nowhere/capsule.json: "),
        (("--simunix-explore=0",), "", "--simunix-explore: expected at least 1, got 0"),
        ((), "simunix_minimise = long", "simunix_minimise: expected seconds of real time from 0 on, got 'long'"),
    ],
)
def test_a_wrong_option_is_one_line(suite: Suite, words: tuple[str, ...], ini: str, says: str) -> None:
    result = suite("def test_it(): pass\n", *words, ini=ini)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert says in result.stderr.str()


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ("", "is the capsule of a scenario; repeat it by: simunix replay"),
        ("test_other.py::test_it", "the capsule is of test_other.py::test_it, which is not among the tests to be run"),
    ],
)
def test_a_capsule_of_another_test_is_refused(suite: Suite, pytester: pytest.Pytester, test: str, says: str) -> None:
    values = {"folder": "/", "overrides": [], "events": [], "seed": 1, "random_seed": 1, "strategy": "random"}
    values |= {"signature": "x", "findings": [], "digest": "", "programs": {}, "test": test}
    folder = pytester.mkdir("kept")
    (folder / "capsule.json").write_text(json.dumps(values))
    (folder / "choices.jsonl").write_text('{"places": ["turn"], "count": 1}\n')
    result = suite("def test_it(): pass\n", "--simunix-replay=kept")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert says in result.stderr.str() + result.stdout.str()
