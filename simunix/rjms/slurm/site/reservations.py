"""Make the scontrol commands that create a site's reservations again, from the output of `scontrol -o show
reservation`; see scontrol(1).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.ranges import fold_hosts
from simunix.rjms.slurm.files.lines import host_list, read_text
from simunix.rjms.slurm.site.anonymous import HIDDEN, MAY_TELL, anonymous_reservation
from simunix.rjms.slurm.site.changes import Change
from simunix.rjms.slurm.site.names import Names

WHAT = "what scontrol -o show reservation prints"
START_S = 30
"""When the commands run, in virtual seconds of the run; the nodes have registered by then."""
FIRST_JOB_S = 60
"""When the first job of the workload is submitted, in virtual seconds of the run."""
KEPT = ("Nodes", "Users", "Accounts", "PartitionName", "Features", "Licenses", "BurstBuffer", "MaxStartDelay")
TOLD_ELSEWHERE = ("NodeCnt", "CoreCnt", "TRES", "State", "Duration", "Watts")
"""The words of a reservation that follow from its nodes, its times, or the moment of the question."""
BY_SLURM = ("SPEC_NODES", "ALL_NODES")
"""The flags that Slurm sets itself, because the command names the nodes."""
EMPTY = ("", "(null)", "n/a", "none")
NO_LIST = (*EMPTY, "all")
_PAIR = re.compile(r"(\w+)=(\S*)")


def reservation_commands(
    path: Path,
    first_submission_s: float,
    changes: list[Change],
    names: Names | None = None,
    there: Collection[str] | None = None,
) -> list[str]:
    """Return a scontrol command for each reservation, which begins as long before or after the first job's submission
    as at the site.

    Left out are reservations that had ended by then, options that `scontrol create` does not have and, if `there` is
    given, nodes not in it and reservations without other nodes. Raises SimunixError with file and line.
    """
    commands = []
    for number, line in enumerate(read_text(path, WHAT).split("\n"), 1):
        if not line.strip() or line.startswith("No reservations"):
            continue
        entry = dict(_PAIR.findall(line))
        place = f"{path}:{number}"
        nodes = entry.get("Nodes", "")
        if nodes.lower() not in NO_LIST:
            host_list(nodes, f"{place}: Nodes")
        entry = entry if names is None else anonymous_reservation(entry, names)
        name, starts, ends = (entry.pop(key, "") for key in ("ReservationName", "StartTime", "EndTime"))
        if not name:
            raise SimunixError(f"{place}: expected ReservationName=…, got {line!r:.60}; give {WHAT}")
        start_s, end_s = (_moment(text, place) - first_submission_s + FIRST_JOB_S - START_S for text in (starts, ends))
        if end_s < 60:
            changes.append(Change(place, f"reservation {name}", "left out: over before the first job"))
            continue
        if there is not None and not _has_nodes(entry, there, Change(place, f"reservation {name}", ""), changes):
            continue
        minutes = int(end_s - max(0.0, start_s)) // 60
        words = [f"ReservationName={name}", f"StartTime=now+{max(0, round(start_s))}seconds", f"Duration={max(1, minutes)}"]
        words += _words(entry, name, place, changes)
        commands.append(shlex.join(["scontrol", "create", "reservation", *words]))
    return commands


def _has_nodes(entry: dict[str, str], there: Collection[str], change: Change, changes: list[Change]) -> bool:
    """Keep only those nodes of a reservation that are in `there`. Return false if the reservation had nodes and has
    none left.
    """
    text = entry.get("Nodes", "")
    if text.lower() in NO_LIST or text == HIDDEN:
        return True
    names = host_list(text, f"{change.place}: Nodes")
    kept = [name for name in names if name in there]
    if len(kept) == len(names):
        return True
    missing = fold_hosts(name for name in names if name not in there)
    entry["Nodes"] = fold_hosts(kept)
    changes.append(replace(change, reason=f"{'' if kept else 'left out: '}without {missing}: no such node in the scenario"))
    return bool(kept)


def _words(entry: Mapping[str, str], name: str, place: str, changes: list[Change]) -> Iterator[str]:
    for key, value in entry.items():
        if value in EMPTY or key in TOLD_ELSEWHERE:
            continue
        if value == HIDDEN:
            changes.append(Change(place, f"reservation {name}: {key}={value}", MAY_TELL))
        elif key == "Flags":
            flags = [flag for flag in value.split(",") if flag not in BY_SLURM]
            yield from [f"Flags={','.join(flags)}"] if flags else []
        elif key in KEPT:
            yield f"{key}={value}"
        else:
            changes.append(Change(place, f"reservation {name}: {key}={value}", "left out: scontrol create is not told"))


def _moment(text: str, place: str) -> float:
    """Return the seconds since the Unix epoch of a date, by the clock of sacct's dates. Raises SimunixError, beginning
    with `place`.
    """
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise SimunixError(f"{place}: expected StartTime and EndTime such as 2024-03-01T12:00:00, got {text!r:.40}") from None
