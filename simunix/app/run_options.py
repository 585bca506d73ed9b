"""The options of the command line that a run of a scenario and a run of a single command have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from simunix.launch.debug.observation import NOTHING, ObservationOptions
from simunix.launch.debug.strace import NO_STRACE, StraceOptions
from simunix.launch.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of `simunix run` (simunix/cli/run.py). `seed`, `until_ns` and `pace` override the scenario's values."""

    out: Path | None = None
    seed: int | None = None
    until_ns: int | None = None
    overrides: tuple[str, ...] = ()
    pace: float | None = None
    pause_at_ns: int | None = None
    log_every_turn: bool = False
    strict: bool = False
    strace: StraceOptions = NO_STRACE
    debug: str | None = None
    observation: ObservationOptions = NOTHING
    replay_cpu: Path | None = None

    def applied(self, plan: Plan) -> Plan:
        """Return a copy of the plan of a scenario in which the values of the command line override those of the
        scenario.
        """
        return replace(
            plan,
            until_ns=plan.until_ns if self.until_ns is None else self.until_ns,
            pace=plan.pace if self.pace is None else self.pace,
            observation=self.observation.instead_of(plan.observation),
        )
