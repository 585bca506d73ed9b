"""The plugin in a test suite of its own: what it keeps, what it shows, what it refuses, each with one clear line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import IS_ANNOUNCED, PLUGIN, ROOT

Suite = Callable[..., pytest.RunResult]
PASSES = """
def test_it(emulation):
    emulation.host("a").start("echo hello")
    emulation.run(check=True)
"""
FAILS = """
def test_it(emulation):
    process = emulation.host("a").start("echo hello; echo wrong >&2; sleep 3600; exit 3", name="toy")
    emulation.run()
    assert process.exit_code == 0
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """Runs pytest on a file with this text; its temporary folders are below `tmp`."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(text: str, *arguments: str, ini: str = "") -> pytest.RunResult:
        pytester.makepyfile(text)
        pytester.makeini(f"[pytest]\n{ini}\n")
        plugin = () if IS_ANNOUNCED else ("-p", PLUGIN)
        return pytester.runpytest_subprocess(*plugin, "-W", "error", "--basetemp", "tmp", *arguments, timeout=60)

    return run


def folders(pytester: pytest.Pytester) -> list[Path]:
    """Run directories that are left."""
    found = (pytester.path / "tmp").glob("**/simunix-*/run*")
    return sorted(path for path in found if not path.parent.is_symlink())


def test_passing_test_removes_its_run_directory(suite: Suite, pytester: pytest.Pytester) -> None:
    suite(PASSES).assert_outcomes(passed=1)
    assert not [path for path in (pytester.path / "tmp").glob("simunix-*") if not path.is_symlink()]


def test_failing_test_keeps_and_shows_its_run_directory(suite: Suite, pytester: pytest.Pytester) -> None:
    result = suite(FAILS)
    result.assert_outcomes(failed=1)
    (kept,) = folders(pytester)
    text = result.stdout.str()
    assert f"run directory: {kept}" in text
    assert "simunix: run" in text
    assert re.search(r"toy@a: started at 0.000000 s, ended at 3600\.\d+ s with exit code 3", text)
    assert "simunix: stdout of toy@a" in text and "hello" in text
    assert "simunix: stderr of toy@a" in text and "wrong" in text
    assert {"events.jsonl", "run.json", "hosts"} <= {path.name for path in kept.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "arguments", "ini", "count"),
    [
        pytest.param(PASSES, ("--simunix-keep",), "", 1, marks=pytest.mark.slow),
        pytest.param(PASSES, (), "simunix_keep = all", 1, marks=pytest.mark.slow),
        pytest.param(FAILS, (), "simunix_keep = none", 0, marks=pytest.mark.slow),
        (FAILS, ("--simunix-keep",), "simunix_keep = none", 1),
    ],
)
def test_what_is_kept_is_for_the_user_to_say(
    suite: Suite, pytester: pytest.Pytester, text: str, arguments: tuple[str, ...], ini: str, count: int
) -> None:
    result = suite(text, *arguments, ini=ini)
    assert len(folders(pytester)) == count
    if not count:
        assert "run directory: not kept" in result.stdout.str()


@pytest.mark.slow
def test_deadlock_has_a_section(suite: Suite) -> None:
    result = suite("""
        def waits():
            import socket
            socket.create_server(("", 80)).accept()

        def test_it(emulation):
            emulation.host("a").start(waits)
            emulation.run()
    """)
    result.stdout.fnmatch_lines(
        [
            "*- simunix: deadlock -*",
            "virtual time stopped at * s: nobody can run and nothing is due",
            "  a: *waits for descriptor*",
        ]
    )
    assert "service.py" not in result.stdout.str()  # the reader sees the test's own line, not the server's


@pytest.mark.slow
def test_program_that_computes_for_ever_does_not_hold_up_the_suite(suite: Suite) -> None:
    result = suite(
        "def test_it(emulation):\n    emulation.host('a').start('while :; do :; done')\n    emulation.run()\n",
        ini="simunix_wall_limit = 1",
    )
    result.stdout.fnmatch_lines(["*- simunix: stall -*", "*the turn has not come back*"])


@pytest.mark.slow
def test_time_that_runs_on_for_ever_does_not_either(suite: Suite) -> None:
    result = suite(
        "def test_it(emulation):\n    emulation.host('a').start('while :; do sleep 1; done')\n    emulation.run()\n",
        ini="simunix_wall_limit = 1",
    )
    result.stdout.fnmatch_lines(["*- simunix: stall -*", "still running after 1 s of wall time*", "  a: sh*"])


@pytest.mark.slow
def test_who_still_lived_at_the_time_limit_is_said(suite: Suite) -> None:
    result = suite("""
        import pytest

        @pytest.mark.simunix(until="1h")
        def test_it(emulation):
            emulation.host("a").start("exec sleep 1d", name="toy")
            emulation.run(check=True)
    """)
    result.stdout.fnmatch_lines(
        [
            "E*SimunixError: toy@a had not ended at 3600.000000 s",
            "*ended at 3600.000000 s of virtual time: time limit",
            "*- simunix: who still lived at the end -*",
            "a: *sleep* waits for the clock until 86400.* s since *",
        ]
    )


MISUSE = {
    "unknown argument": ("sed=1", "unknown argument 'sed'; known: seed=, scenario=, until="),
    "positional": ("1", "unexpected positional argument 1; known: seed=, scenario=, until="),
    "seed": ("seed='x'", "seed: expected a whole number from 0 on, got 'x'"),
    "until": ("until='soon'", "until: expected a duration such as 90, '50us', '2h30m' or '1 day', got 'soon'"),
    "no scenario": ("scenario='no.yaml'", "scenario: no such file 'no.yaml' in "),
    "scenario type": ("scenario=3", "scenario: expected the path of a scenario file, got 3"),
    "bad scenario": ("scenario='bad.yaml'", "bad.yaml:2: hots: unknown key; did you mean 'hosts'?"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in ("seed", "bad scenario"))) for name in MISUSE]
)
def test_marker_misuse_is_one_line(suite: Suite, pytester: pytest.Pytester, name: str) -> None:
    argument, words = MISUSE[name]
    (pytester.path / "bad.yaml").write_text("hosts: [{name: a}]\nhots: 1\n")
    result = suite(f"import pytest\n\n@pytest.mark.simunix({argument})\ndef test_it(emulation):\n    pass\n")
    result.assert_outcomes(errors=1)
    shown = result.stdout.str().partition("ERROR at setup")[2].partition("short test summary")[0].splitlines()[1:-1]
    assert len(shown) == 1 and "::test_it: @pytest.mark.simunix: " in shown[0] and words in shown[0]


@pytest.mark.slow
def test_marker_on_a_test_without_the_fixture_is_said(suite: Suite) -> None:
    result = suite("import pytest\n\n@pytest.mark.simunix(seed=1)\ndef test_it():\n    pass\n")
    result.stdout.fnmatch_lines(["*::test_it: @pytest.mark.simunix: the test does not use the fixture 'emulation'"])
    result.assert_outcomes(errors=1)


@pytest.mark.slow
def test_markers_of_module_and_test_are_joined(suite: Suite) -> None:
    result = suite("""
        import pytest

        pytestmark = pytest.mark.simunix(seed=1, until="1h")

        @pytest.mark.simunix(seed=2)
        def test_it(emulation):
            assert (emulation.options.seed, emulation.options.until_ns) == (2, 3600 * 10**9)
    """)
    result.assert_outcomes(passed=1)


@pytest.mark.slow
def test_seed_of_the_command_line_wins(suite: Suite) -> None:
    text = "import pytest\n\n@pytest.mark.simunix(seed=1)\ndef test_it(emulation):\n    assert emulation.options.seed == 7\n"
    suite(text, "--simunix-seed", "7").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("ini", "words"),
    [
        ("simunix_keep = some", "simunix_keep: expected one of failed, all, none, got 'some'"),
        ("simunix_wall_limit = long", "simunix_wall_limit: expected seconds of real time above 0, got 'long'"),
    ],
)
def test_bad_ini_values_stop_at_once(suite: Suite, ini: str, words: str) -> None:
    result = suite(PASSES, ini=ini)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert words in result.stderr.str()


@pytest.mark.slow
def test_without_a_compiler_a_test_is_skipped_with_the_reason(suite: Suite) -> None:
    text = "def test_it(emulation):\n    emulation.c('int main(void) { return 0; }')\n"
    result = suite(text, "-rs", ini="simunix_cc = no-such-compiler")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*no C compiler here (no-such-compiler); install gcc"])


@pytest.mark.slow
def test_c_that_does_not_compile_shows_the_compilers_words(suite: Suite) -> None:
    result = suite("def test_it(emulation):\n    emulation.c('int main(void) { return x; }', name='toy')\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*ProgramError: program.c does not compile:", "E*program.c:1:*error: *x* undeclared*"])


@pytest.mark.slow
def test_c_is_compiled_once(suite: Suite, pytester: pytest.Pytester) -> None:
    text = "def test_it(emulation):\n    emulation.host('a').start(emulation.c('int main(void) { return 0; }'))\n"
    text += "    emulation.run(check=True)\n"
    cache = pytester.path / ".pytest_cache/d/simunix-programs"
    suite(text).assert_outcomes(passed=1)
    (first,) = cache.iterdir()
    before = first.stat().st_mtime_ns
    suite(text).assert_outcomes(passed=1)
    (second,) = cache.iterdir()
    assert second.stat().st_mtime_ns == before


@pytest.mark.slow
def test_c_is_compiled_without_a_cache_too(suite: Suite, pytester: pytest.Pytester) -> None:
    text = "def test_it(emulation):\n    emulation.host('a').start(emulation.c('int main(void) { return 0; }'))\n"
    result = suite(text + "    emulation.run(check=True)\n", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    assert not (pytester.path / ".pytest_cache").exists()


def test_scenario_of_the_marker(suite: Suite, pytester: pytest.Pytester) -> None:
    (pytester.path / "toy.yaml").write_text(
        "hosts: [{name: 'a[1-2]'}]\nseed: 5\nprocesses: [{name: server, host: a2, command: 'sleep 1d'}]\n"
    )
    result = suite("""
        import pytest

        @pytest.mark.simunix(scenario="toy.yaml")
        def test_it(emulation):
            user = emulation.host("a1").start("sleep 60; hostname", name="user")
            result = emulation.run(check=True)
            assert user.stdout == "a1\\n"
            assert emulation.process("server").is_running
            assert 60 < result.virtual_s < 61
    """)
    result.assert_outcomes(passed=1)


@pytest.mark.slow
def test_under_xdist(suite: Suite, pytester: pytest.Pytester) -> None:
    text = PASSES + "\n".join(FAILS.replace("test_it", f"test_{number}") for number in range(3))
    result = suite(text, "-n", "2")
    result.assert_outcomes(passed=1, failed=3)
    assert len(folders(pytester)) == 3
    assert result.stdout.str().count("run directory: ") == 3
