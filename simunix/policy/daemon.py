"""The loop of a policy's daemon: wait until something happens, ask for the state, decide, act, and log.

Each decision is a line of JSON on standard output: {"at": seconds since the Unix epoch, "waiting", "running": numbers of
jobs, "did": [...], "refused": {...}}. An error of the policy is a line with "error".
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from simunix.policy.actions import Action, Release, Requeue, Start, Wake
from simunix.policy.base import Policy
from simunix.policy.placement import fill, free_cores
from simunix.policy.records import Job, State
from simunix.policy.shipped import PolicyError, make, place_of

FAILED = 1
KNOWN = (Start, Release, Requeue, Wake)
"""The classes of actions."""
GOES_ON = "--goes-on"
PATIENCE_S = 15.0
"""How long a job may still wait that was told to start: an RJMS looks at its queue every few seconds."""
NOT_STARTED = f"the RJMS has not started the job on these nodes within {PATIENCE_S:g} s"


class Port(Protocol):
    """How a policy's daemon speaks with an RJMS."""

    def wait(self, until_s: float | None) -> None:
        """Return when something has happened that a policy may act on; at `until_s` (Unix time) at the latest."""

    def state(self) -> State:
        """Ask the RJMS for its state. `waiting` has the held jobs only, and `history` all jobs that have ended."""

    def act(self, action: Action) -> str:
        """Do what a policy has decided. Return "", or the RJMS's reason against it."""

    def take_back(self, job: str) -> None:
        """Let a job that was released, and has not started, wait for the policy again."""


@dataclass(frozen=True)
class Told:
    """A job that was told to start on nodes, and does not run yet; after `until_s` it is taken back."""

    job: Job
    until_s: float


class Daemon:
    """Runs a policy on a port to an RJMS. An error of the policy ends the daemon, or with `goes_on` only the decision."""

    def __init__(self, policy: Policy, port: Port, goes_on: bool = False) -> None:
        self._policy, self._port, self._goes_on = policy, port, goes_on
        self._refused: dict[str, str] = {}
        self._told: dict[str, Told] = {}
        self._ended: dict[str, Job] = {}
        self._wakes: list[float] = []

    def run(self) -> None:
        """Decide again and again, until the daemon is ended."""
        while True:
            self.step()
            self._port.wait(min(self._wakes, default=None))

    def step(self) -> None:
        """Ask for the state and decide once."""
        state = self._seen(self._port.state())
        self._wakes = [wake for wake in self._wakes if wake > state.now]
        actions = self._decided(state)
        self._refused = {}
        did = [entry for action in actions if (entry := self._act(action, state))]
        if did or state.refused:
            self._log(state, did=did, refused=self._refused)

    # What the policy sees

    def _seen(self, state: State) -> State:
        """Return the state as the policy sees it: with the jobs that have ended since the last decision, what was
        refused, and the jobs that were told to start among the running ones.
        """
        ended = [job for job in state.history if self._ended.get(job.id) != job]
        before = [job for job in self._ended.values() if job.id not in {each.id for each in ended}]
        self._ended.update({job.id: job for job in ended})
        for job in (*state.running, *ended):
            self._told.pop(job.id, None)
        refused = {**self._refused, **self._take_back(state.now)}
        state = replace(state, ended=ended, history=before, refused=refused)
        return self._with_told(state)

    def _take_back(self, now: float) -> dict[str, str]:
        """Take back the jobs that were told to start and have not. Return the reason for each."""
        late = [id for id, told in self._told.items() if told.until_s <= now]
        for id in late:
            del self._told[id]
            self._port.take_back(id)
        return dict.fromkeys(late, NOT_STARTED)

    def _with_told(self, state: State) -> State:
        """Return the state with the jobs that were told to start as running jobs, whose cores are not free."""
        taken: dict[str, int] = {}
        for told in self._told.values():
            for name, cores in told.job.placed.items():
                taken[name] = taken.get(name, 0) + cores
        nodes = [replace(node, free=max(node.free - taken.get(node.name, 0), 0)) for node in state.nodes]
        return replace(
            state,
            waiting=[job for job in state.waiting if job.id not in self._told],
            running=[*state.running, *(told.job for told in self._told.values())],
            nodes=nodes,
        )

    # What the policy does

    def _decided(self, state: State) -> list[Action]:
        """Return the policy's actions. An error of the policy is logged, with its line."""
        try:
            actions = list(self._policy.decide(state))
            for action in actions:
                if not isinstance(action, KNOWN):
                    raise TypeError(f"decide returned {action!r}; expected {', '.join(kind.__name__ for kind in KNOWN)}")
            return actions
        except Exception as error:
            reason = f"{place_of(error)}{type(error).__name__}: {error}"
            self._log(state, error=reason)
            if not self._goes_on:
                print(f"policy: {reason}", file=sys.stderr)
                raise SystemExit(FAILED) from error
            return []

    def _act(self, action: Action, state: State) -> dict[str, Any]:
        """Do one action. Return its entry in the log; {} for a `Wake`."""
        if isinstance(action, Wake):
            self._wakes.append(action.at_s)
            return {}
        assert isinstance(action, (Start, Release, Requeue))
        reason = self._wrong(action, state) or self._port.act(action)
        if reason:
            self._refused[action.job] = reason
        elif isinstance(action, Start):
            job = next(job for job in state.waiting if job.id == action.job)
            until_s = state.now + PATIENCE_S
            placed = fill(job.cores, action.nodes, free_cores(state.nodes))
            self._told[job.id] = Told(replace(job, start_s=state.now, placed=placed), until_s)
            self._wakes.append(until_s)
        return {type(action).__name__.lower(): {key: value for key, value in asdict(action).items() if value is not None}}

    def _wrong(self, action: Start | Release | Requeue, state: State) -> str:
        """Return why an action cannot be done in the state that the policy has seen; "" if it can."""
        if isinstance(action, Requeue):
            return "" if any(job.id == action.job for job in state.running) else f"job {action.job} does not run"
        if action.job in self._told or all(job.id != action.job for job in state.waiting):
            return f"job {action.job} does not wait for the policy"
        unknown = set(action.nodes) - {node.name for node in state.nodes} if isinstance(action, Start) else set()
        return f"there is no node {min(unknown)}" if unknown else ""

    def _log(self, state: State, **more: Any) -> None:
        """Print a line of JSON about a decision."""
        line: dict[str, Any] = {"at": round(state.now, 6), "waiting": len(state.waiting), "running": len(state.running)}
        print(json.dumps({**line, **more}), flush=True)


def options_of(words: Mapping[str, str]) -> dict[str, Any]:
    """Return options from their texts: numbers where the text is one."""
    return {name: _value(text) for name, text in words.items()}


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def serve(port: Port, arguments: list[str]) -> None:
    """Run the policy that the arguments name, until the daemon is ended: POLICY [--goes-on] [OPTION=VALUE …]."""
    name, *words = [word for word in arguments if word != GOES_ON]
    try:
        policy = make(name, options_of(dict(word.split("=", 1) for word in words)))
    except PolicyError as error:
        print(f"policy: {error}", file=sys.stderr)
        raise SystemExit(FAILED) from error
    Daemon(policy, port, GOES_ON in arguments).run()
