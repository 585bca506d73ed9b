"""Read the fair-share usage that a site's users have so far, from the output of `sshare -a -P`; see sshare(1)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.files.lines import read_text
from simunix.rjms.slurm.site.changes import Change
from simunix.rjms.slurm.site.names import Names

WHAT = "what sshare -a -P -o Account,User,RawUsage prints"
NEEDED = ("Account", "User", "RawUsage")


def usage_of(
    path: Path, commands: Sequence[str], changes: list[Change], names: Names | None = None
) -> dict[str, dict[str, float]]:
    """Return RawUsage by account and user, for the associations that the sacctmgr commands in `commands` create. Raises
    SimunixError with file and line.

    For a user who has an association for each partition of an account, the usages are added.
    """
    known = {("root", "root"), *_associations(commands)}
    found: dict[str, dict[str, float]] = {}
    unknown = 0
    lines = read_text(path, WHAT).split("\n")
    heading = [name.strip() for name in lines[0].split("|")]
    for name in NEEDED:
        if name not in heading:
            raise SimunixError(f"{path}:1: column {name} is missing; give {WHAT}")
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        values = [value.strip() for value in line.split("|")]
        if len(values) != len(heading):
            raise SimunixError(f"{path}:{number}: expected {len(heading)} fields, got {len(values)}; mend the line")
        account, user, raw = (dict(zip(heading, values, strict=True))[name] for name in NEEDED)
        used = _number(raw, f"{path}:{number}")
        if not user or used == 0:
            continue
        if names is not None:
            account, user = names.of("account", account), names.of("user", user)
        if (account.lower(), user) not in known:
            unknown += 1
            continue
        own = found.setdefault(account, {})
        own[user] = own.get(user, 0.0) + used
    if unknown:
        changes.append(Change(str(path), f"usage of {unknown} users", "left out: --accounts has no such user in that account"))
    return found


def _associations(commands: Sequence[str]) -> set[tuple[str, str]]:
    """Return the account and the user of each command that adds a user."""
    found = set()
    for command in commands:
        words = shlex.split(command)
        if words[:2] == ["add", "user"]:
            account = next(word for word in words if word.startswith("Account="))
            found.add((account.removeprefix("Account=").lower(), words[2]))
    return found


def _number(text: str, place: str) -> float:
    if not re.fullmatch(r"[0-9]{1,18}(\.[0-9]{0,9})?", text):
        raise SimunixError(f"{place}: RawUsage: expected a number, got {text!r:.40}; give {WHAT}")
    return float(text)
