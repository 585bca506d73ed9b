"""Read the sbatch options in the submit line of a job, as accounting records it: what only the submit line tells.

Tables say what becomes of each option. An option in no table is left out and reported.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime

from simunix.workload.formats.columns import COLUMNS

IN_COLUMNS = {
    "array": "Array",
    "begin": "Begin",
    "constraint": "Constraints",
    "cpus-per-task": "CPUsPerTask",
    "dependency": "Dependency",
    "gres": "Gres",
    "licenses": "Licenses",
    "mem": "ReqMem",
    "mem-per-cpu": "ReqMem",
    "nice": "Nice",
    "nodes": "ReqNodes",
    "ntasks": "NTasks",
    "ntasks-per-node": "NTasksPerNode",
    "reservation": "Reservation",
    "time-min": "TimeMin",
}
"""The options with a value, and the column of the job table that holds the value."""
SWITCHES = {
    "exclusive": ("Exclusive", "yes"),
    "hold": ("Hold", "yes"),
    "no-requeue": ("Requeue", "no"),
    "requeue": ("Requeue", "yes"),
}
"""The options whose value, if any, follows a `=`, and their column with its text."""
AS_WORDS = frozenset(
    (
        *("cluster-constraint", "core-spec", "cores-per-socket", "deadline", "delay-boot", "distribution", "exclude", "hint"),
        *("mincpus", "nodelist", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-socket", "prefer", "priority"),
        *("sockets-per-node", "switches", "thread-spec", "threads-per-core", "tmp", "wckey"),
    )
)
"""The options with a value that are passed to the job's sbatch unchanged."""
AS_SWITCHES = frozenset(("contiguous", "overcommit", "oversubscribe", "spread-job", "use-min-nodes"))
"""The options without a value that are passed to the job's sbatch unchanged."""
TOLD_BY_COLUMNS = frozenset(
    (
        *("account", "gid", "gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "job-name", "partition", "qos"),
        *("time", "tres-per-task", "uid"),
    )
)
"""The options with a value whose content sacct has in a column; GPUs are in ReqTRES."""
WITHOUT_MEANING = frozenset(
    (
        *("acctg-freq", "chdir", "comment", "container", "error", "export", "export-file", "input", "mail-type", "mail-user"),
        *("open-mode", "output", "profile", "propagate", "signal", "extra", "wrap", "wait-all-nodes"),
    )
)
"""The options with a value that do not change when and where a job that sleeps runs."""
SWITCHES_WITHOUT_MEANING = frozenset(("parsable", "quiet", "verbose", "wait", "get-user-env", "reboot", "kill-on-invalid-dep"))
SHORT = {
    **{"A": "account", "a": "array", "b": "begin", "B": "extra-node-info", "C": "constraint", "c": "cpus-per-task"},
    **{"D": "chdir", "d": "dependency", "e": "error", "F": "nodefile", "G": "gpus", "H": "hold", "i": "input"},
    **{"J": "job-name", "k": "no-kill", "L": "licenses", "M": "clusters", "m": "distribution", "N": "nodes", "n": "ntasks"},
    **{"O": "overcommit", "o": "output", "p": "partition", "Q": "quiet", "q": "qos", "S": "core-spec", "s": "oversubscribe"},
    **{"t": "time", "v": "verbose", "W": "wait", "w": "nodelist", "x": "exclude"},
}
_WITHOUT_VALUE = {*SWITCHES, *AS_SWITCHES, *SWITCHES_WITHOUT_MEANING, "no-kill", "nice"}
KNOWN = frozenset(
    f"--{name}" for name in ("mem", "bbf", "bb", "mpi", *IN_COLUMNS, *SWITCHES, *AS_WORDS, *AS_SWITCHES, *SHORT.values())
)
"""The options that a report may name even if it must not contain names of the site."""
_IGNORED = TOLD_BY_COLUMNS | WITHOUT_MEANING | SWITCHES_WITHOUT_MEANING


def submit_options(line: str, submitted: str = "") -> tuple[dict[str, str], list[str]]:
    """Return the columns that a submit line gives, and the options that are left out; `submitted` is the date of the
    submission.
    """
    try:
        words = shlex.split(line)[1:]
    except ValueError:
        return {}, ["a quotation that does not end"]
    found: dict[str, str] = {}
    kept: list[str] = []
    left: list[str] = []
    for name, value in _options(words):
        column, text = _in_column(name, value, submitted)
        if column and COLUMNS[column].pattern.fullmatch(text):
            found[column] = text
        elif name in AS_WORDS or name in AS_SWITCHES:
            kept.append(f"--{name}={value}" if value else f"--{name}")
        elif name not in _IGNORED:
            left.append(f"--{name}")
    if kept:
        found["Arguments"] = shlex.join(kept)
    return found, left


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the long name and the value of each sbatch option in front of the job script."""
    while words and words[0].startswith("-") and words[0] not in ("-", "--"):
        word = words.pop(0)
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            bare = "=" not in word
        else:
            name, value = SHORT.get(word[1], word[1]), word[2:]
            bare = not value
        if bare and name not in _WITHOUT_VALUE and words:
            value = words.pop(0)
        yield name, value


def _in_column(name: str, value: str, submitted: str) -> tuple[str, str]:
    """Return the column for an option, and its text there; "" if there is none."""
    if name in SWITCHES:
        column, text = SWITCHES[name]
        return column, value or text
    if name == "begin":
        return "Begin", _seconds_after(value, submitted)
    if name == "nice":
        return "Nice", value or "100"
    return IN_COLUMNS.get(name, ""), value + ("c" if name == "mem-per-cpu" else "")


def _seconds_after(begin: str, submitted: str) -> str:
    """Return a date as seconds after the submission (+0 for an earlier one); any other text is unchanged."""
    try:
        later = datetime.fromisoformat(begin) - datetime.fromisoformat(submitted)
    except (ValueError, TypeError):  # no date, or only one of the two has a time zone
        return begin
    return f"+{max(0, int(later.total_seconds()))}"
