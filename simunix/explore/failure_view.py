"""Collects what the report of an exploration shows about one failure: its story, its timeline, and the result of --explain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simunix import units
from simunix.explore.capsule import Capsule, read_capsule
from simunix.explore.record import Row
from simunix.explore.story import event_text, moment, story
from simunix.explore.why.explain import NAME as EXPLANATION
from simunix.explore.why.explain import likely_since, seeds_lines, seeds_needed

MOST_CHOICES = 200
"""The most choices that are drawn of a run that was not minimised."""
NARROWEST = 0.4
"""The narrowest bar of a timeline, in percent of its width."""


def failure_view(path: Path, rows: Sequence[Row]) -> dict[str, Any]:
    """Return what the page shows about the capsule in a folder; `rows` are all seeds of the exploration.

    Raises SimunixError.
    """
    capsule = read_capsule(path)
    told = _explanation(path)
    seeds = [row.seed for row in rows if capsule.signature in row.failed]
    view = {
        "signature": capsule.signature,
        "first": capsule.seed,
        "strategy": capsule.strategy,
        "often": f"{len(seeds):,} of {len(rows):,} seeds",
        "story": story(capsule),
        "pair": _pair(told.get("pair")),
        "curve": _curve(told.get("curve") or []),
        "likely": moment(told["likely_since_ns"]) if told.get("likely_since_ns") is not None else "",
        "explained": bool(told),
        "mended": "\n".join(seeds_lines(seeds_needed(path, capsule.signature))).replace("mended?", "Mended?"),
        "path": str(path),
    }
    return view | _timeline(capsule, told.get("pair"))


def _explanation(path: Path) -> dict[str, Any]:
    """Return the result of --explain; {} if --explain was not used."""
    try:
        found = json.loads((path / EXPLANATION).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _pair(pair: dict[str, Any] | None) -> dict[str, Any] | None:
    if pair is None:
        return None
    sides = []
    for name in ("failing", "passing"):
        side = pair[name]
        stacks = (
            f"{process}\n" + "\n".join(f"  {frame}" for frame in frames) for process, frames in side["stacks"].items() if frames
        )
        sides.append(
            {
                "name": name,
                "calls": "\n".join(side["calls"]),
                "ends": "; ".join(side["ends"]),
                "threads": "\n".join(side["threads"]),
                "stacks": "\n".join(stacks),
            }
        )
    return {"step": f"{moment(pair['at_ns'])}: {pair['what']}", "before": "\n".join(pair["before"]), "sides": sides}


def _curve(curve: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    since = likely_since([(at_ns, failed, seeds) for at_ns, failed, seeds in curve])
    return [
        {
            "at": moment(at_ns),
            "text": f"{failed} of {seeds}",
            "width": f"{100 * failed / seeds:.1f}",
            "kind": "likely" if since is not None and at_ns >= since else "",
        }
        for at_ns, failed, seeds in curve
    ]


def _timeline(capsule: Capsule, pair: dict[str, Any] | None) -> dict[str, Any]:
    """Return rows of bars: a row for the target of each fault, one for each kind of choice, and one for the failure."""
    bars: dict[str, list[tuple[int, int, str, str]]] = {}  # begin, end, title, kind
    for event in capsule.events:
        begin = units.duration_ns(event["at"])
        name = next((f"{key} {event[key]}" for key in ("partition", "host", "link", "storage") if key in event), "fault")
        end = begin + units.duration_ns(event.get("duration", 0))
        bars.setdefault(name, []).append((begin, end, event_text(event), ""))
    for choice in capsule.choices[:MOST_CHOICES]:
        bars.setdefault(f"choice: {choice.place}", []).append((choice.at_ns, choice.at_ns, choice.what, ""))
    if pair is not None:
        key = (pair["at_ns"], pair["what"])
        bars = {
            name: [(*bar[:3], "critical" if (bar[0], bar[2]) == key else bar[3]) for bar in row] for name, row in bars.items()
        }
    latest = max((bar[0] for row in bars.values() for bar in row), default=0)
    failed = [finding for finding in capsule.findings if (finding.get("at_ns") or 0) >= max(latest, 1)]
    for finding in failed[:1]:  # a moment that a message rounds to the millisecond may lie before its cause
        bars["failure"] = [(finding["at_ns"], finding["at_ns"], str(finding["text"]), "failed")]
    moments = [moment_ns for row in bars.values() for begin, end, _, _ in row for moment_ns in (begin, end)]
    if not moments:
        return {"rows": [], "has_moment": False}
    first, last = min(moments), max(moments)
    span = max(last - first, 1)
    rows = [{"name": name, "bars": [_bar(bar, first, span) for bar in row]} for name, row in bars.items()]
    return {"rows": rows, "begin": moment(first), "end": moment(last), "has_moment": bool(failed)}


def _bar(bar: tuple[int, int, str, str], first: int, span: int) -> dict[str, str]:
    begin, end, text, kind = bar
    width = max(100 * (end - begin) / span, NARROWEST)
    left = min(100 * (begin - first) / span, 99.0)
    return {"left": f"{left:.2f}", "width": f"{width:.2f}", "title": f"{moment(begin)}: {text}", "kind": kind}
