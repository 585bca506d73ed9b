"""Tells the story of a failing run in a few lines: its faults and choices in the order of their moments, then what failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simunix import units
from simunix.explore.capsule import Capsule

NS = 10**9
MOST_LINES = 12
"""The most lines of a story; the story of a failure that is not minimised yet may be cut off."""


def moment(at_ns: int) -> str:
    """Return a moment of the run as text, to the microsecond."""
    return f"{at_ns / NS:.6f} s"


def event_text(event: dict[str, Any]) -> str:
    """Return the description of an added fault, for a person."""
    duration = event.get("duration")
    rest = {key: value for key, value in event.items() if key not in ("at", "duration")}
    if "partition" in rest:
        text = f"{rest['partition']} cut off from all others"
    elif "clock" in rest:
        text = f"the wall clock of {rest['host']} is {rest['clock'][1:]} {'ahead' if rest['clock'][0] == '+' else 'behind'}"
    elif "drift" in rest:
        text = f"the wall clock of {rest['host']} drifts by {rest['drift']}"
    elif "process" in rest:
        text = f"{rest['process']} is {rest['state']}"
    elif "host" in rest:
        text = f"the power of {rest['host']} is cut"
    else:
        subject = "link" if "link" in rest else "storage"
        values = ", ".join(f"{key} {value}" for key, value in rest.items() if key not in ("link", "storage"))
        text = f"{subject} {rest[subject]}: {values}"
    return f"{text}, for {duration}" if duration else text


def story(capsule: Capsule) -> list[str]:
    """Return the lines of the story, without line ends."""
    steps = [(units.duration_ns(event["at"]), event_text(event)) for event in capsule.events]
    steps += [(choice.at_ns, choice.what) for choice in capsule.choices]
    lines = [f"{moment(at_ns)}: {text}" for at_ns, text in sorted(steps)]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES // 2], f"… {len(lines) - MOST_LINES:,} more lines …", *lines[-MOST_LINES // 2 :]]
    return [*lines, *failure_lines(capsule.findings)]


def failure_lines(findings: Sequence[dict[str, Any]]) -> list[str]:
    """Return lines about what failed, the most telling finding first."""
    return [f"failed ({finding['kind']}): {finding['text']}" for finding in findings[:3]]
