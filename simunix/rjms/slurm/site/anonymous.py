"""Replace the names in a site's files by other names; tables say which value of which file contains names of which
kind.

A value that is in no table and is no number may contain a name. Such a value is left out and reported. The sources are
slurm.conf(5), gres.conf(5), topology.conf(5), sacctmgr(1) and scontrol(1).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.files.lines import Line, text_of
from simunix.rjms.slurm.site.changes import RULES, Change
from simunix.rjms.slurm.site.names import (
    Names,
    Rule,
    counted_hosts,
    devices,
    features,
    hosts,
    licences,
    listed,
    plain,
    resources,
    switches,
)

HIDDEN = "…"
"""The text in reports that stands for a value which may contain a name."""
MAY_TELL = "left out: it may tell a name, and nothing does with --anonymous"
SCRIPTS = Change("scripts", "--scripts", "left out: a script may tell names, and nothing does with --anonymous")
NUMBER = re.compile(
    r"[-+]?\d[\d:,/-]*(\.\d+)?[KMGTP]?B?|yes|no|true|false|infinite|unlimited|none|all|any|auto|force(:\d+)?|exclusive",
    re.IGNORECASE,
)

_OF_SLURM = (
    *("accountingstorageenforce", "accountingstoragetype", "accountingstoreflags", "authtype", "credtype", "cryptotype"),
    *("cpufreqdef", "cpufreqgovernors", "debugflags", "dependencyparameters", "enforcepartlimits", "grestypes", "gpufreqdef"),
    *(
        "healthchecknodestate",
        "jobacctgathertype",
        "jobacctgatherfrequency",
        "jobacctgatherparams",
        "jobcomptype",
        "jobdefaults",
    ),
    *(
        "joblaunchtype",
        "launchparameters",
        "launchtype",
        "logtimeformat",
        "mpidefault",
        "mpiparams",
        "oversubscribe",
        "preemptmode",
    ),
    *("preemptparameters", "preempttype", "priorityflags", "priorityparameters", "prioritytype", "priorityusageresetperiod"),
    *(
        "privatedata",
        "proctracktype",
        "prologflags",
        "propagateresourcelimits",
        "propagateresourcelimitsexcept",
        "reconfigflags",
    ),
    *("routeplugin", "schedulerparameters", "schedulertype", "selecttype", "selecttypeparameters", "slurmctlddebug"),
    *("slurmctldparameters", "slurmddebug", "slurmdparameters", "slurmschedloglevel", "state", "switchtype", "taskplugin"),
    *("taskpluginparam", "topologyparam", "topologyplugin", "shared", "name", "type", "flags", "autodetect", "cores", "links"),
    *("mcsplugin", "nodefeaturesplugins", "communicationparameters", "x11parameters", "cpubind"),
    *("requeueexit", "requeueexithold", "memspeclimit", "cpuspeclist", "blocksizes", "linkspeed", "gres"),
)
PAIRS: Mapping[str, Rule] = {
    **dict.fromkeys(_OF_SLURM, plain),
    **dict.fromkeys(("nodename", "nodes", "allocnodes", "downnodes", "nodeset", "frontendname"), hosts),
    "suspendexcnodes": counted_hosts,
    **dict.fromkeys(("switchname", "switches", "blockname"), switches),
    **dict.fromkeys(("feature", "features"), features),
    **dict.fromkeys(("partitionname", "alternate", "suspendexcparts"), listed("partition")),
    **dict.fromkeys(("allowaccounts", "denyaccounts"), listed("account")),
    **dict.fromkeys(("allowqos", "denyqos", "qos"), listed("qos")),
    **dict.fromkeys(("accountingstoragetres", "priorityweighttres", "tresbillingweights"), resources),
    "allowgroups": listed("group"),
    "licenses": licences,
    "clustername": lambda names, value: names.of("cluster", value),
    "slurmctldhost": lambda names, value: _controller(names, value),
    "controlmachine": lambda names, value: _controller(names, value),
    "file": devices,
    **dict.fromkeys(("nodeaddr", "slurmctldaddr", "controladdr", "backupaddr", "bcastaddr"), lambda names, value: None),
}
"""How to replace the value of a pair in slurm.conf, gres.conf or topology.conf, by the pair's lower-case name."""


def _controller(names: Names, value: str) -> str:
    host, bracket, _ = value.partition("(")
    return ",".join(names.hosts(each) for each in host.split(",")) + (f"({HIDDEN})" if bracket else "")


def anonymous_lines(lines: Iterable[Line], names: Names, changes: list[Change], called: str) -> Iterator[Line]:
    """Yield the lines of a configuration with names replaced. Messages call the first file `called`; included files are
    numbered.
    """
    files: dict[Path, str] = {}
    for line in lines:
        path = Path(files.setdefault(line.path, f"included file {len(files)}" if files else called))
        pairs: dict[str, tuple[str, str]] = {}
        for key, (written, value) in line.pairs.items():
            try:
                other = value if NUMBER.fullmatch(value) and key not in PAIRS else PAIRS.get(key, _hidden)(names, value)
            except ValueError as error:
                raise SimunixError(f"{line.place}: {written}: {error}; mend the list") from None
            if other is not None or key in RULES or key in LEFT_OUT_ELSEWHERE:
                pairs[key] = (written, HIDDEN if other is None else other)
            else:
                changes.append(Change(f"{path}:{line.number}", f"{written}={HIDDEN}", MAY_TELL))
        if pairs:
            yield Line(path, line.number, text_of(pairs), pairs)


LEFT_OUT_ELSEWHERE = ("accountingstoragehost", "slurmduser", "nodeaddr", "nodehostname")
"""Pairs that no scenario has, and for which the report gives a separate reason."""


def _hidden(names: Names, value: str) -> None:
    return None


# Accounts and QOS

_TEXTS = ("Description", "Organization")
OPTIONS: Mapping[str, Rule] = {
    **dict.fromkeys(("QOS", "DefaultQOS"), listed("qos")),
    "DefaultAccount": listed("account"),
    "Partition": listed("partition"),
    "AdminLevel": plain,
    **dict.fromkeys(
        ("GrpTRES", "GrpTRESMins", "GrpTRESRunMins", "MaxTRESPerJob", "MaxTRESPerNode", "MaxTRESMinsPerJob"), resources
    ),
}
"""How to replace the options in entries of sacctmgr's dump; numbers are unchanged."""
KINDS = {"Account": "account", "Parent": "account", "User": "user", "Cluster": "cluster"}


def anonymous_entry(kind: str, name: str, options: Mapping[str, str], names: Names) -> tuple[str, dict[str, str]]:
    """Return name and options of an entry of sacctmgr's dump, with names replaced."""
    other = names.of(KINDS.get(kind, "host"), name)
    return other, {option: _value(OPTIONS.get(option), value, names) for option, value in options.items()}


def _value(rule: Rule | None, value: str, names: Names) -> str:
    if rule is None:
        return value if not value or NUMBER.fullmatch(value) else HIDDEN
    return rule(names, value) or (HIDDEN if value else "")


COLUMNS: Mapping[str, Rule] = {
    **dict.fromkeys(("Name", "Preempt"), listed("qos")),
    **dict.fromkeys(("Flags", "PreemptMode"), plain),
    **dict.fromkeys(
        (
            *(
                "GrpTRES",
                "GrpTRESMins",
                "GrpTRESRunMin",
                "GrpTRESRunMins",
                "MaxTRES",
                "MaxTRESPerNode",
                "MaxTRESMins",
                "MaxTRESPU",
            ),
            *("MaxTRESPA", "MinTRES", "MaxTRESRunMinsPA", "MaxTRESRunMinsPU", "UsageThres", "LimitFactor"),
        ),
        resources,
    ),
}
"""How to replace the columns of `sacctmgr show qos`; numbers are unchanged."""


def anonymous_qos(row: Mapping[str, str], names: Names) -> dict[str, str]:
    """Return a row of `sacctmgr show qos` with names replaced."""
    return {column: _value(COLUMNS.get(column), value, names) for column, value in row.items()}


RESERVATION: Mapping[str, Rule] = {
    "ReservationName": listed("reservation"),
    "Nodes": hosts,
    "Users": listed("user"),
    "Accounts": listed("account"),
    "PartitionName": listed("partition"),
    "Features": features,
    "Licenses": licences,
    **dict.fromkeys(
        ("StartTime", "EndTime", "Flags", "State", "Duration", "MaxStartDelay", "TRES", "NodeCnt", "CoreCnt"), plain
    ),
}
"""How to replace the words of a reservation; numbers are unchanged."""


def anonymous_reservation(entry: Mapping[str, str], names: Names) -> dict[str, str]:
    """Return the words of a reservation with names replaced; (null) and the like are unchanged."""
    return {
        key: value if value in ("(null)", "n/a") else _value(RESERVATION.get(key), value, names) for key, value in entry.items()
    }


# Jobs

JOB: Mapping[str, Rule] = {
    "JobName": lambda names, value: names.of("job", value),
    "User": listed("user"),
    "Group": listed("group"),
    "Account": listed("account"),
    "Partition": listed("partition"),
    "QOS": listed("qos"),
    "Reservation": listed("reservation"),
    "Licenses": licences,
    "ReqTRES": resources,
    "Constraints": features,
    "NodeList": hosts,
    "Gres": plain,
    "State": lambda names, value: value.split(" ")[0],
    **dict.fromkeys(
        ("Dependency", "Exclusive", "Submit", "Start", "End", "Timelimit", "Array", "Requeue", "Hold", "ReqMem"), plain
    ),
    **dict.fromkeys(("Begin", "ReqNodes", "JobID"), plain),
}
"""How to replace the columns of the job table; numbers are unchanged, except for the user's number after CANCELLED,
which is removed.
"""
WORDS: Mapping[str, Rule] = {
    **dict.fromkeys(("nodelist", "exclude"), hosts),
    "wckey": lambda names, value: names.of("wckey", value),
    **dict.fromkeys(("prefer", "cluster-constraint"), features),
    **dict.fromkeys(("distribution", "hint", "deadline", "delay-boot", "switches", "tmp", "core-spec", "priority"), plain),
}
"""How to replace the values of sbatch options that no column of the job table has."""


def anonymous_job(row: Mapping[str, str], names: Names) -> tuple[dict[str, str], list[str]]:
    """Return a row of the job table with names replaced, and the names of the columns and options that are left out."""
    made: dict[str, str] = {}
    left: list[str] = []
    for column, value in row.items():
        if column == "Arguments":
            words, others = _arguments(value, names)
            made[column] = shlex.join(words)
            left += others
            continue
        try:
            made[column] = _value(JOB.get(column), value, names)
        except ValueError:  # the value is no host list
            made[column] = HIDDEN
        if made[column] == HIDDEN:
            made[column] = ""
            left.append(column)
    return made, left


def _arguments(text: str, names: Names) -> tuple[list[str], list[str]]:
    kept, left = [], []
    for word in shlex.split(text):
        option, equals, value = word[2:].partition("=")
        try:
            other = value if NUMBER.fullmatch(value) or not equals else WORDS.get(option, _hidden)(names, value)
        except ValueError:
            other = None
        if other is None:
            left.append(f"--{option}")
        else:
            kept.append(f"--{option}{equals}{other}")
    return kept, left
