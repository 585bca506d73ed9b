"""Repeats the run of a capsule, and says whether the new run equals the capsule's run."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from rsg_server.choices.places import PLACES
from rsg_server.choices.source import Choices
from rsg_server.choices.strategies import Recorded
from simunix.app.runner import ScenarioOptions, run_scenario
from simunix.explore.capsule import SCENARIO, Capsule, changed_programs, folder_of, read_capsule, scenario_capsule
from simunix.explore.story import moment, story
from simunix.launch.debug.strace import NO_STRACE, StraceOptions
from simunix.results.run_json import read_record

SAME, OTHER = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """The options of `simunix replay`; times are virtual nanoseconds."""

    capsule: Path
    out: Path
    until_ns: int | None = None
    pause_at_ns: int | None = None
    strace: str | None = None
    debug: str | None = None
    tells_story: bool = False


def replay(options: ReplayOptions) -> int:
    """Repeat the run of a capsule.

    Returns 0 if the run failed as the capsule says, with an equal event log (unless --until has ended the run early).
    """
    capsule = read_capsule(options.capsule)
    print(capsule.signature)
    for line in story(capsule):
        print(f"  {line}")
    if options.tells_story:
        return SAME
    scenario_capsule(options.capsule)
    strategy = Recorded(capsule.choices)
    run_scenario(
        ScenarioOptions(
            path=options.capsule / SCENARIO,
            folder=folder_of(capsule, options.capsule),
            out=options.out,
            seed=capsule.random_seed,
            until_ns=options.until_ns,
            overrides=capsule.all_overrides,
            pause_at_ns=options.pause_at_ns,
            strace=NO_STRACE if options.strace is None else StraceOptions((options.strace,)),
            debug=options.debug,
            choices=Choices(strategy, frozenset(PLACES)),
        )
    )
    return _compared(options, capsule, strategy)


def _compared(options: ReplayOptions, capsule: Capsule, strategy: Recorded) -> int:
    """Print whether the run equals the capsule's run; if not, what differs first."""
    digest = read_record(options.out / "run.json")["events_sha256"]
    if digest == capsule.digest:
        print(f"the same run as the capsule's: event log {digest[:16]}…")
        return SAME
    if options.until_ns is not None:
        print(f"the run was cut at {moment(options.until_ns)}; its results are in {options.out}")
        return SAME
    changed = changed_programs(capsule, options.out)
    where = f"; it departs by {moment(strategy.departure.at_ns)}" if strategy.departure is not None else ""
    why = f"; other programs than the capsule's: {', '.join(changed)}" if changed else ""
    print(f"simunix: not the capsule's run: event log {digest[:16]}…, was {capsule.digest[:16]}…{where}{why}", file=sys.stderr)
    return OTHER
