"""Writes the report of an exploration: one HTML page in the exploration's folder, made from the files in that folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rsg_server.choices.places import PLACES
from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_file
from simunix import __version__
from simunix.checks.commands import name_of
from simunix.explore.capsule import NAME as CAPSULE
from simunix.explore.capsule import SCENARIO, read_capsule
from simunix.explore.failure_view import failure_view
from simunix.explore.record import FAILURES, SEEDS, SETTINGS, Row, SeedsFile
from simunix.explore.why.chances import CONFIDENCE
from simunix.report import page
from simunix.rjms.scenario import load
from simunix.scenario.check_section import CheckSection
from simunix.scenario.model import Scenario
from simunix.units import human_time

NAME = "report.html"
TEMPLATE = "explore.html"
KINDS = ("command", "never", "eventually", "sometimes")
RULE_OF_THREE = 3
"""After n runs without a failure, the rate of failures is below 3 / n with 95 % confidence."""


def write_report(folder: Path, scenario: Scenario, is_over: bool = True) -> Path:
    """Write the page of the exploration in a folder; return its path. Raises SimunixError for files that cannot be read."""
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    pages = Path(page.__file__).parent
    rows = SeedsFile(folder / SEEDS).read()
    capsules = sorted(path.parent for path in (folder / FAILURES).glob(f"*/{CAPSULE}"))
    failures = sorted((failure_view(path, rows) for path in capsules), key=lambda view: int(view["first"]))
    settings = json.loads((folder / SETTINGS).read_text())
    template = Environment(loader=FileSystemLoader(pages), autoescape=True).get_template(TEMPLATE)
    text = template.render(
        title=f"Exploration of {scenario.name}",
        version=__version__,
        strategy=settings.get("strategy", ""),
        state="as when this page was written" if is_over else "the exploration was still going on when this page was written",
        summary=_summary(rows, len(failures)),
        notes=_notes(rows, scenario.check),
        failures=failures,
        tables=[table for table in (_properties(rows, scenario.check), _places(rows), _strategies(rows)) if table["rows"]],
        css=Markup((pages / "report.css").read_text()),
    )
    target = folder / NAME
    try:
        with whole_file(target) as file:
            file.write(text)
    except OSError as error:
        raise SimunixError(unwritten(target, error, "free some room and repeat the command")) from error
    return target


def refreshed(capsule: Path) -> Path | None:
    """Write the report of a capsule's exploration anew; None if the capsule is not in the folder of an exploration."""
    capsule = capsule.resolve()
    folder = capsule.parent.parent
    if capsule.parent.name != FAILURES or not all((folder / name).is_file() for name in (SEEDS, SETTINGS)):
        return None
    return write_report(folder, load(capsule / SCENARIO, read_capsule(capsule).overrides))


def _summary(rows: Sequence[Row], failures: int) -> list[tuple[str, str]]:
    failed = sum(bool(row.failed) for row in rows)
    wall_s = sum(row.wall_s for row in rows)
    found = [
        ("seeds that have run", f"{len(rows):,}"),
        ("seeds that failed", f"{failed:,}"),
        ("distinct failures", f"{failures:,}"),
        ("virtual time", human_time(sum(row.virtual_s for row in rows))),
        ("choices other than those of simunix run", f"{sum(row.taken for row in rows):,}"),
        ("faults", f"{sum(row.faults for row in rows):,}"),
    ]
    if rows and wall_s > 0:
        found.append(("wall time of a seed, mean", f"{wall_s / len(rows):.2f} s"))
        found.append(("seeds per second, with one run at a time", f"{len(rows) / wall_s:.1f}"))
    return found


def _notes(rows: Sequence[Row], checks: Sequence[CheckSection]) -> list[str]:
    notes = []
    if rows and not any(row.failed for row in rows):
        rate = min(RULE_OF_THREE / len(rows), 1)
        notes.append(f"No seed failed: with {CONFIDENCE:.0%} confidence fewer than {rate:.2%} of all seeds fail.")
    reached = Counter(name for row in rows for name in row.reached)
    for index, section in enumerate(checks):
        if section.sometimes is not None and not reached[name_of(section, index)]:
            notes.append(f"No seed has reached {name_of(section, index)} (sometimes).")
    return notes


def _properties(rows: Sequence[Row], checks: Sequence[CheckSection]) -> dict[str, Any]:
    """Return for each check how many seeds have reached it (checks of the kind `sometimes`), or how many have violated
    it (all other kinds).
    """
    reached = Counter(name for row in rows for name in row.reached)
    broken = Counter(signature for row in rows for signature in row.failed)
    lines = []
    for index, section in enumerate(checks):
        name = name_of(section, index)
        kind = next(kind for kind in KINDS if getattr(section, kind) is not None)
        failed = broken[f"check: {name}"]
        count = (f"{reached[name]:,}", "") if kind == "sometimes" else ("", f"{failed:,}")
        lines.append([name, kind, *count])
    text = "How many seeds have reached each check of the kind sometimes, and with how many seeds another check did not hold."
    return {"title": "Checks", "text": text, "columns": ["check", "kind", "reached in", "broken in"], "rows": lines}


def _places(rows: Sequence[Row]) -> dict[str, Any]:
    """Return for each kind of choice how many seeds took another alternative than 0, how many choices there were, and
    how many of these took another alternative than 0.
    """
    lines = []
    for place in PLACES:
        counts = [row.places[place] for row in rows if place in row.places]
        asked, taken = sum(count[0] for count in counts), sum(count[1] for count in counts)
        seeds = sum(count[1] > 0 for count in counts)
        share = f"{taken / asked:.2%}" if asked else "no choice"
        lines.append([place, f"{asked:,}", f"{taken:,}", share, f"{seeds:,}"])
    text = "How many choices the runs made at each place, and how many of these differ from what simunix run does."
    columns = ["place", "choices", "differing choices", "share", "seeds with a differing choice"]
    return {
        "title": "Coverage of choices",
        "text": text,
        "columns": columns,
        "rows": lines if any(row.places for row in rows) else [],
    }


def _strategies(rows: Sequence[Row]) -> dict[str, Any]:
    """Return for each strategy how many seeds it ran, how many of these failed, and how long a seed took."""
    lines = []
    for name in sorted({row.strategy for row in rows}):
        of_it = [row for row in rows if row.strategy == name]
        failed = sum(bool(row.failed) for row in of_it)
        mean_s = sum(row.wall_s for row in of_it) / len(of_it)
        lines.append([name, f"{len(of_it):,}", f"{failed:,}", f"{failed / len(of_it):.1%}", f"{mean_s:.2f} s"])
    text = "How many seeds used each strategy, how many of these failed, and the mean wall time of a seed."
    columns = ["strategy", "seeds", "failed", "share", "wall time"]
    return {"title": "Strategies", "text": text, "columns": columns, "rows": lines}
