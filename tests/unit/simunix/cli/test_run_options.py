"""Every option that `simunix run` declares reaches the run: no option is forgotten between parser and plan."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path

from simunix.app.run_options import RunOptions
from simunix.app.runner import ScenarioOptions
from simunix.app.single import SingleOptions
from simunix.cli import run


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    run.add_parser(parser.add_subparsers())
    return parser.parse_args(["run", *words])


def test_every_field_comes_from_the_command_line() -> None:
    given = run._of_any_run(parsed("s.yaml"))
    assert set(given) == {field.name for field in fields(RunOptions)}
    assert RunOptions(**given) == RunOptions(), "nothing said: the defaults"


def test_what_is_said_is_passed_on() -> None:
    words = (
        "--seed 3 --until 2h --set a=1 --pace 9 --pause-at 5 --log-turns --strict --strace=h:x --gdb p --count-calls --out o"
    )
    given = run._of_any_run(parsed(*words.split(), "--replay-cpu", "r", "s.yaml"))
    for options in (ScenarioOptions(path=Path("s.yaml"), **given), SingleOptions(argv=("s",), **given)):
        assert (options.seed, options.until_ns, options.overrides, options.pace) == (3, 7200 * 10**9, ("a=1",), 9)
        assert (options.pause_at_ns, options.log_every_turn, options.strict) == (5 * 10**9, True, True)
        assert (options.debug, options.observation.counts_calls) == ("p", True)
        assert (options.out, options.replay_cpu) == (Path("o"), Path("r"))
        assert options.strace.selections == ("h:x",)
