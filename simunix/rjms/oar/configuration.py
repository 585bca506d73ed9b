"""Make OAR's configuration from the platform: /etc/oar/oar.conf, the SQL statements that create the resources, and the
program that starts ranks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rsg_server.errors import SimunixError
from simunix.rjms.oar.layout import LOG, PASSWORD, READER_PASSWORD

_VARIABLE = re.compile(r"^#?\s?([A-Z][A-Z0-9_]*)=(?=[\"'\w]|$)", re.MULTILINE)
"""A pattern for a variable in oar.conf, either with a value, or with a proposed value in a comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The facts about a cluster for OAR's configuration: `cores` has the number of cores of each node by name,
    `sockets` that of its processors.
    """

    controller: str
    database: str
    cores: Mapping[str, int]
    sockets: Mapping[str, int]
    scheduler: str | None = None


def variables(conf: str) -> list[str]:
    """Return the names of the variables that an oar.conf sets or proposes, sorted."""
    return sorted(set(_VARIABLE.findall(conf)))


def settings(cluster: Cluster) -> dict[str, str | None]:
    """Return the variables of oar.conf that follow from the platform; None removes a variable.

    By default OAR puts the processes of a job into cgroups. Without the variable CPUSET_PATH, OAR uses no cgroups on
    the hosts.
    """
    return {
        "DB_HOSTNAME": cluster.database,
        "DB_BASE_PASSWD": PASSWORD,
        "DB_BASE_PASSWD_RO": READER_PASSWORD,
        "SERVER_HOSTNAME": cluster.controller,
        "LOG_FILE": LOG,
        "CPUSET_PATH": None,
    }


def changed(conf: str, changes: Mapping[str, str | int | None], key: str) -> str:
    """Return the text of oar.conf with other values. Raises SimunixError, beginning with `key`, for a variable that the
    file does not mention.

    The last line that sets a variable gets the new value, or else the last line that proposes one. Other lines that set
    the variable become comments.
    """
    known = variables(conf)
    for name in changes:
        if name not in known:
            raise SimunixError(f"{key}.{name}: no such variable in oar.conf; known: {', '.join(known)}")
    lines = conf.splitlines()
    for name, value in changes.items():
        _set(lines, name, value)
    return "\n".join(lines) + "\n"


def _set(lines: list[str], name: str, value: str | int | None) -> None:
    set_at = [place for place, line in enumerate(lines) if line.startswith(f"{name}=")]
    proposed = [place for place, line in enumerate(lines) if re.match(rf"#\s?{name}=", line)]
    for place in set_at:
        lines[place] = "#" + lines[place]
    if value is not None:
        lines[(set_at or proposed)[-1]] = f'{name}="{value}"'


def resources_sql(cluster: Cluster) -> str:
    """Return the SQL statements that `oarnodesetting -a -h NODE -p …` would execute, once for each core: a resource,
    and its first state in the log.

    The statements also set the policy of the queues, and allow root to submit: root submits the jobs of a trace if the
    trace's users are ignored.
    """
    rows, cpu, core = [], 0, 0
    for name, count in cluster.cores.items():
        sockets = cluster.sockets[name]
        for place in range(count):
            numbers = f"{cpu + place * sockets // count + 1}, {core + place + 1}"
            rows.append(f"('{name}', 'Alive', 1, '{name}', {numbers}, '{place}')")
        cpu, core = cpu + sockets, core + count
    queues = ""
    if cluster.scheduler is not None:
        queues = f"UPDATE queues SET scheduler_policy = '{cluster.scheduler}' WHERE queue_name IN ('default', 'besteffort');\n"
    return (
        "INSERT INTO resources (network_address, state, state_num, host, cpu, core, cpuset) VALUES\n"
        + ",\n".join(rows)
        + ";\nINSERT INTO resource_logs (resource_id, attribute, value, date_start)\n"
        "SELECT resource_id, 'state', 'Alive', EXTRACT(EPOCH FROM now())::integer FROM resources ORDER BY resource_id;\n"
        f"{queues}"
        "UPDATE admission_rules SET enabled = 'NO' WHERE rule LIKE '# Prevent users oar and root to submit jobs%';\n"
    )


def start_ranks() -> str:
    """Return a program that starts its arguments for each core of a job, or for each host, as rank 0, 1, …, and waits
    for all ranks.

    OAR_NODEFILE names a host for each core; see oarsub(1).
    """
    return (
        "#!/bin/sh\n"
        "rank=0\n"
        'if [ "$RANKS_ON" = hosts ]; then hosts=$(uniq "$OAR_NODEFILE"); else hosts=$(cat "$OAR_NODEFILE"); fi\n'
        "for host in $hosts; do\n"
        '    oarsh "$host" /usr/bin/env PMI_RANK=$rank "$@" < /dev/null &\n'
        '    rank=$((rank + 1)) started="$started $!"\n'
        "done\n"
        "code=0\n"
        "for each in $started; do wait $each || code=$?; done\n"
        "exit $code\n"
    )
