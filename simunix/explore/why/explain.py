"""Explains a failure: which choice or fault decides, what the processes do at that moment, and from which moment on the
failure was likely.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rsg_server.choices.strategies import Recorded
from rsg_server.errors import SimunixError
from rsg_server.whole_files import whole_file
from simunix import units
from simunix.explore.attempt import RUN, Attempt, Outcome
from simunix.explore.capsule import SCENARIO, Capsule, folder_of, scenario_capsule
from simunix.explore.pool import Pool, kept
from simunix.explore.record import FAILURES, SEEDS, SeedsFile
from simunix.explore.reseed import ReseedOptions, failed_from
from simunix.explore.story import event_text, failure_lines, moment, story
from simunix.explore.why.chances import clean_seeds, least_rate
from simunix.explore.why.critical import Pair, Steps, critical_pair, steps_of
from simunix.explore.why.parting import calls_of, parting
from simunix.explore.why.watch import Watched
from simunix.launch.interrupts import Interrupts

NAME = "explain.json"
"""The name of the file with the explanation, in the folder of the capsule."""
MOST_MOMENTS = 8
HALF = 0.5
"""The part of failing seeds from which on a failure counts as likely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """The options of `simunix replay --explain`: how many seeds go on from each moment, and how many runs are made at a
    time.
    """

    capsule: Path
    out: Path
    seeds: int = 20
    jobs: int = 1


@dataclass(slots=True)
class Explanation:
    """The explanation of a failure, as explain.json contains it; `pair` is None if the run fails without any fault or choice.

    `curve` has, for each moment (virtual nanoseconds), how many of the seeds that go on from there fail, and how many
    there are.
    """

    pair: dict[str, Any] | None = None
    curve: list[tuple[int, int, int]] = field(default_factory=list)
    likely_since_ns: int | None = None
    seeds: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the explanation in the form in which the file contains it."""
        return {"pair": self.pair, "curve": self.curve, "likely_since_ns": self.likely_since_ns, "seeds": self.seeds}


class Explainer:
    """Makes the runs that explain one capsule, in folders below `options.out`; `explain` once."""

    def __init__(self, options: ExplainOptions, capsule: Capsule, interrupts: Interrupts) -> None:
        self._options, self._capsule, self._interrupts = options, capsule, interrupts
        self._pool: Pool[int] = Pool(options.out, options.jobs, interrupts)
        self.result = Explanation()

    def explain(self) -> Explanation:
        """Find the critical pair, then the curve; each result is printed as soon as it is found."""
        try:
            pair = critical_pair(steps_of(self._capsule), self._fails)
            if not self._interrupts.came:
                self._look_at(pair)
            if not self._interrupts.came:
                self._draw_curve()
        finally:
            self._pool.close()
        self.result.seeds = seeds_needed(self._options.capsule, self._capsule.signature)
        for line in seeds_lines(self.result.seeds):
            print(line)
        return self.result

    # The pair

    def _attempt(self, steps: Steps) -> Attempt:
        path = self._options.capsule
        return Attempt(
            path / SCENARIO,
            self._capsule.overrides,
            self._capsule.random_seed,
            steps.events,
            Recorded(steps.choices),
            folder=folder_of(self._capsule, path),
        )

    def _outcome(self, attempt: Attempt, target: Path | None = None) -> Outcome | None:
        """Make one run, and keep it in a folder if one is given; return its result, or None after an interrupt."""
        if self._interrupts.came:
            return None
        self._pool.start(0, attempt)
        found = None
        for _, outcome, folder in self._pool.ended(lambda: None):
            if outcome.problem:
                raise SimunixError(f"{self._options.capsule}: {outcome.problem}")
            found = outcome
            if target is not None:
                kept(folder / RUN, target)
        return found

    def _fails(self, steps: Steps) -> bool:
        outcome = self._outcome(self._attempt(steps))
        return outcome is not None and self._capsule.signature in outcome.signatures

    def _look_at(self, pair: Pair | None) -> None:
        """Make both runs of the pair again, with traces of system calls and stacks, and print where the two runs begin
        to differ.
        """
        if pair is None:
            print("critical pair: none, because the run fails even without its choices and faults")
            return
        sides = {name: self._side(pair, steps, name) for name, steps in (("failing", pair.failing), ("passing", pair.passing))}
        if None in sides.values():
            return
        found = parting(*(calls_of(self._options.out / name) for name in sides))
        at_ns, what = _step(pair)
        self.result.pair = {
            "at_ns": at_ns,
            "what": what,
            "before": [str(call) for call in found.before] if found else [],
            "failing": {**(sides["failing"] or {}), "calls": [str(call) for call in found.failing] if found else []},
            "passing": {**(sides["passing"] or {}), "calls": [str(call) for call in found.passing] if found else []},
        }
        print("\n".join(pair_lines(self.result.pair)))
        print(f"the results of both runs are in {self._options.out}/failing and {self._options.out}/passing", flush=True)

    def _side(self, pair: Pair, steps: Steps, name: str) -> dict[str, Any] | None:
        attempt = replace(self._attempt(steps), traces=True)
        if pair.choice is not None:
            attempt = replace(attempt, strategy=Watched(attempt.strategy, pair.choice.number))
        outcome = self._outcome(attempt, self._options.out / name)
        if outcome is None:
            return None
        ends = failure_lines(outcome.findings) or ["ends without a failure"]
        return {"ends": ends, **(outcome.seen or {"threads": [], "stacks": {}})}

    # The curve

    def _draw_curve(self) -> None:
        options = ReseedOptions(
            capsule=self._options.capsule,
            out=self._options.out,
            moments_ns=(),
            seeds=self._options.seeds,
            jobs=self._options.jobs,
        )
        for at_ns in moments_of(self._capsule):
            failed = failed_from(options, self._capsule, at_ns, self._pool, self._interrupts)
            if self._interrupts.came:
                return
            self.result.curve.append((at_ns, failed, self._options.seeds))
            print(
                f"other choices from {moment(at_ns)} on: {failed} of {self._options.seeds} seeds fail in the same way",
                flush=True,
            )
        self.result.likely_since_ns = likely_since(self.result.curve)
        if self.result.likely_since_ns is not None:
            print(f"the failure is likely from {moment(self.result.likely_since_ns)} on")


def _step(pair: Pair) -> tuple[int, str]:
    """Return the moment and the text of the step in which the runs of a pair differ."""
    if pair.choice is not None:
        return pair.choice.at_ns, pair.choice.what
    assert pair.event is not None
    return units.duration_ns(pair.event["at"]), event_text(pair.event)


def moments_of(capsule: Capsule) -> list[int]:
    """Return the start, and the moments just after the faults and choices; if there are many, only the last ones."""
    moments = {choice.at_ns + 1 for choice in capsule.choices} | {
        units.duration_ns(event["at"]) + 1 for event in capsule.events
    }
    return [0, *sorted(moments)[-(MOST_MOMENTS - 1) :]]


def likely_since(curve: Sequence[tuple[int, int, int]]) -> int | None:
    """Return the first moment from which on, at this and all later moments, half of the seeds or more fail; None if
    there is no such moment.
    """
    since = None
    for at_ns, failed, seeds in curve:
        since = (at_ns if since is None else since) if failed >= HALF * seeds else None
    return since


def seeds_needed(capsule: Path, signature: str) -> dict[str, Any] | None:
    """Return how many of the exploration's seeds fail in the same way, and how many must pass after a repair; None for
    a capsule that was moved away.
    """
    file = capsule.resolve().parent.parent / SEEDS
    if capsule.resolve().parent.name != FAILURES or not file.is_file():
        return None
    rows = SeedsFile(file).read()
    failed = sum(signature in row.failed for row in rows)
    if not failed:
        return None
    rate = least_rate(failed, len(rows))
    return {"failed": failed, "runs": len(rows), "least_rate": rate, "clean": clean_seeds(rate)}


def seeds_lines(seeds: dict[str, Any] | None) -> list[str]:
    """Return lines that explain the numbers of `seeds_needed`."""
    if seeds is None:
        return ["mended? unknown how many seeds must pass, as the capsule is not in the folder of its exploration"]
    often = f"{seeds['failed']:,} of {seeds['runs']:,} seeds failed in this way, so at least {seeds['least_rate']:.2%} do"
    return [f"mended? {often}; a change has mended the failure if {seeds['clean']:,} seeds pass (each with 95 % confidence)"]


def pair_lines(pair: dict[str, Any]) -> list[str]:
    """Return lines about the critical pair, for a terminal."""
    lines = ["critical pair: two runs that differ only in this choice or fault", f"  {moment(pair['at_ns'])}: {pair['what']}"]
    lines += ["the last calls of both runs:", *(f"  {call}" for call in pair["before"])]
    for name in ("failing", "passing"):
        side = pair[name]
        lines += [f"{name} run:", *(f"  {call}" for call in side["calls"])]
        lines += [f"  … {text}" for text in side["ends"]]
    for name in ("failing", "passing"):
        side = pair[name]
        if side["threads"]:
            lines += [
                f"threads of the {name} run, when the choice has taken effect:",
                *(f"  {text}" for text in side["threads"]),
            ]
        for process, frames in side["stacks"].items():
            lines += [f"  stack of {process}:", *(f"    {frame}" for frame in frames)] if frames else []
    return lines


def explain(options: ExplainOptions) -> int:
    """Explain a capsule, and write the results into it; return 0, or the exit code of an interrupt."""
    capsule = scenario_capsule(options.capsule)
    print(capsule.signature)
    for line in story(capsule):
        print(f"  {line}")
    with Interrupts() as interrupts:
        found = Explainer(options, capsule, interrupts).explain()
        if interrupts.came:
            return interrupts.code
    with whole_file(options.capsule / NAME) as file:
        file.write(json.dumps(found.as_json(), indent=1) + "\n")
    return 0
