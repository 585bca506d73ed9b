"""Make the sacctmgr commands for a site's accounts, from the output of `sacctmgr dump` and `sacctmgr -P show qos`; see
sacctmgr(1).
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.files.lines import read_text
from simunix.rjms.slurm.site.anonymous import HIDDEN, MAY_TELL, anonymous_entry, anonymous_qos
from simunix.rjms.slurm.site.changes import Change
from simunix.rjms.slurm.site.names import Names
from simunix.workload.formats.durations import duration_s

_ENTRY = re.compile(r"(Cluster|Parent|Account|User|Machine_Name|ClusterName)\s+-\s+'?([^':]*)'?(?::(.*))?")
_OPTION = re.compile(r":(?=[A-Za-z]\w*=)")
LIMITS = {
    **dict.fromkeys(
        ("Fairshare", "Priority", "GrpTRES", "GrpTRESMins", "GrpTRESRunMins", "GrpJobs", "GrpJobsAccrue", "GrpWall")
    ),
    **dict.fromkeys(("GrpSubmitJobs", "MaxTRESPerJob", "MaxTRESPerNode", "MaxTRESMinsPerJob", "MaxJobs", "MaxJobsAccrue")),
    **dict.fromkeys(("MaxSubmitJobs", "DefaultQOS")),
    "MaxWallDurationPerJob": "MaxWall",
    "QOS": "QosLevel",
}
"""The options in entries of a dump, and the name in `sacctmgr add` where it differs."""
OF_ACCOUNT = ("Description", "Organization")
OF_USER = ("DefaultAccount", "AdminLevel", "Partition")
QOS = {
    **dict.fromkeys(("Priority", "Preempt", "PreemptMode", "Flags", "UsageFactor", "UsageThres", "GrpTRES", "GrpTRESMins")),
    **dict.fromkeys(("GrpJobs", "GrpWall", "MaxWall")),
    "GraceTime": "GraceTime",
    "GrpTRESRunMin": "GrpTRESRunMins",
    "GrpSubmit": "GrpSubmitJobs",
    "MaxTRES": "MaxTRESPerJob",
    "MaxTRESPerNode": "MaxTRESPerNode",
    "MaxTRESMins": "MaxTRESMinsPerJob",
    "MaxTRESPU": "MaxTRESPerUser",
    "MaxJobsPU": "MaxJobsPerUser",
    "MaxSubmitPU": "MaxSubmitJobsPerUser",
    "MaxTRESPA": "MaxTRESPerAccount",
    "MaxJobsPA": "MaxJobsPerAccount",
    "MaxSubmitPA": "MaxSubmitJobsPerAccount",
    "MinTRES": "MinTRESPerJob",
}
"""The columns of `show qos`, and the name in `sacctmgr modify` where it differs."""
MEANS_NOTHING = {"PreemptMode": "cluster", "GraceTime": "00:00:00", "UsageFactor": "1.000000", "Priority": "0"}


def account_commands(path: Path, changes: list[Change], names: Names | None = None) -> list[str]:
    """Return the sacctmgr commands that create the accounts of a dump. Entries that the commands leave out are added to
    `changes`. Raises SimunixError with file and line.
    """
    commands: list[str] = []
    hidden: Counter[str] = Counter()
    parent = "root"
    for number, line in enumerate(read_text(path, "what sacctmgr dump writes").split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = _ENTRY.fullmatch(line.strip())
        if found is None:
            raise SimunixError(f"{path}:{number}: expected an entry such as User - 'alice':Fairshare=1, got {line!r:.60}")
        kind, name, options = found[1], found[2], _options(found[3] or "", f"{path}:{number}")
        if names is not None:
            name, options = anonymous_entry(kind, name, options, names)
        if kind == "Parent":
            parent = name
            continue
        hidden.update(option for option, value in options.items() if value == HIDDEN)
        words = list(_entry_words(kind, name, options, f"{path}:{number}", changes))
        if kind == "Account" and name != "root":
            commands.append(shlex.join(["add", "account", name, f"Parent={parent}", *words]))
        elif kind == "User" and name != "root":
            commands.append(shlex.join(["add", "user", name, f"Account={parent}", *words]))
        elif words:
            changes.append(Change(f"{path}:{number}", f"{kind} {name}: {' '.join(words)}", "left out: limits of the root"))
    changes += [Change(str(path), f"{count} values of {option}", MAY_TELL) for option, count in sorted(hidden.items())]
    return commands


def _entry_words(kind: str, name: str, options: dict[str, str], place: str, changes: list[Change]) -> Iterator[str]:
    """Yield the words of a sacctmgr command for an entry of a dump."""
    own = OF_ACCOUNT if kind == "Account" else OF_USER
    for option, value in options.items():
        if value == HIDDEN:
            continue
        if option in LIMITS or option in own:
            yield f"{LIMITS.get(option) or option}={value}"
        else:
            changes.append(Change(place, f"{kind} {name}: {option}={value}", "left out: sacctmgr is not told"))


def _options(text: str, place: str) -> dict[str, str]:
    found = {}
    for part in _OPTION.split(text) if text else ():
        name, equals, value = part.partition("=")
        if not equals:
            raise SimunixError(f"{place}: expected Name=value, got {part!r:.60}; mend the line")
        found[name] = value.strip("'\"")
    return found


def qos_commands(path: Path, changes: list[Change], anonymous: Names | None = None) -> list[str]:
    """Return the sacctmgr commands that create each QOS and then set its values. Raises SimunixError with file and
    line.
    """
    lines = read_text(path, "what sacctmgr -P show qos prints").split("\n")
    names = lines[0].split("|")
    if "Name" not in names:
        raise SimunixError(f"{path}:1: expected the heading of sacctmgr -P show qos, with Name, got {lines[:1]!r:.60}")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        values = line.split("|")
        if len(values) != len(names):
            raise SimunixError(f"{path}:{number}: expected {len(names)} fields, got {len(values)}; mend the line")
        row = dict(zip(names, values, strict=True))
        rows.append((number, row if anonymous is None else anonymous_qos(row, anonymous)))
    commands = [shlex.join(["add", "qos", row["Name"]]) for _, row in rows if row["Name"] != "normal"]
    for number, row in rows:
        words = list(_qos_words(row, f"{path}:{number}", changes))
        if words:
            commands.append(shlex.join(["modify", "qos", row["Name"], "set", *words]))
    return commands


def _qos_words(row: dict[str, str], place: str, changes: list[Change]) -> Iterator[str]:
    for column, value in row.items():
        if column == "Name" or not value or value == MEANS_NOTHING.get(column):
            continue
        if value == HIDDEN:
            changes.append(Change(place, f"QOS {row['Name']}: {column}={value}", MAY_TELL))
        elif column in QOS:
            yield f"{QOS[column] or column}={_seconds(value, f'{place}: GraceTime') if column == 'GraceTime' else value}"
        else:
            changes.append(Change(place, f"QOS {row['Name']}: {column}={value}", "left out: sacctmgr is not told"))


def _seconds(text: str, where: str) -> str:
    """Return as seconds a time that sacctmgr prints, such as 00:05:00 or 1-00:00:00; a number of seconds is unchanged."""
    seconds = duration_s(text)
    if text.isdecimal() or seconds == math.inf:
        return text
    if seconds is None:
        raise SimunixError(f"{where}: expected a time such as 00:05:00 or 1-00:00:00, got {text!r:.40}; mend the line")
    return str(math.floor(seconds))
