"""What the command line says of a run, whatever is run: a scenario or a single command."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from simunix.launch.debug.observation import NOTHING, ObservationOptions
from simunix.launch.debug.strace import NO_STRACE, StraceOptions
from simunix.launch.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of `simunix run` (simunix/cli/run.py). `seed`, `until_ns` and `pace` come before those of a scenario."""

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
        """A scenario's plan with the values of the command line in the place of the scenario's."""
        return replace(
            plan,
            until_ns=plan.until_ns if self.until_ns is None else self.until_ns,
            pace=plan.pace if self.pace is None else self.pace,
            observation=self.observation.instead_of(plan.observation),
        )
