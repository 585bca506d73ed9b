"""Make the configuration of an HTCondor pool from the platform, and the key that its hosts share. The functions only
make text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from rsg_server.errors import SimunixError

ROLES = ("CentralManager", "Submit", "Execute")
"""The names of HTCondor's own sets of daemons: `use ROLE:…` adds a set to DAEMON_LIST."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
KEY_BYTES = 64
SCHEDD_INTERVAL_S = 10
"""The interval, in seconds, at which the schedd looks in its queue for jobs of the parallel universe.

With HTCondor's own 300 s, such a job waits minutes for each of its steps. Besides, the dedicated scheduler of 23.9.6
crashes if such a job ends while the list of idle jobs, which each look makes anew, still contains it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The content of a pool's configuration. `changes` are the scenario's parameters, which come last and so override
    others.
    """

    name: str
    controller: str
    login: str
    nodes: frozenset[str]
    changes: Mapping[str, str]

    def roles(self, host: str) -> tuple[str, ...]:
        """Return the roles of a host, in the order of ROLES. The login host has the schedd."""
        has = (host == self.controller, host == self.login, host in self.nodes)
        return tuple(role for role, is_had in zip(ROLES, has, strict=True) if is_had)


def changes_of(given: Mapping[str, object], key: str) -> dict[str, str]:
    """Return the parameters that a scenario gives, as texts. Raises SimunixError, beginning with `key`, for a malformed
    name or a value of several lines.
    """
    for name, value in given.items():
        if not _NAME.fullmatch(name):
            raise SimunixError(f"{key}: {name!r} is no name of a parameter; expected letters, digits, underscores and periods")
        if "\n" in str(value):
            raise SimunixError(f"{key}.{name}: a parameter is one line")
    return {name: str(value) for name, value in given.items()}


def pool_config(pool: Pool, host: str) -> str:
    """Return the file in config.d for one host, which adds to the package's own configuration."""
    dedicated = f"DedicatedScheduler@{pool.login}"
    lines = [
        f"CONDOR_HOST = {pool.controller}",
        *(f"use ROLE:{role}" for role in pool.roles(host)),
        f"COLLECTOR_NAME = {pool.name}",
        f"UID_DOMAIN = {pool.name}",
        "TRUST_UID_DOMAIN = True",
        *(f"SEC_CLIENT_{each} = OPTIONAL" for each in ("AUTHENTICATION", "ENCRYPTION", "INTEGRITY")),
        f'DedicatedScheduler = "{dedicated}"',
        "STARTD_ATTRS = $(STARTD_ATTRS), DedicatedScheduler",
        "RANK = Scheduler =?= $(DedicatedScheduler)",
        f"SCHEDD_INTERVAL = {SCHEDD_INTERVAL_S}",
        "RunBenchmarks = False",
        "ENABLE_KERNEL_TUNING = False",
        "DISCARD_SESSION_KEYRING_ON_STARTUP = False",
        "ENABLE_HISTORY_ROTATION = False",
        *(f"{name} = {value}" for name, value in pool.changes.items()),
    ]
    return "\n".join(lines) + "\n"


def pool_key(seed: int) -> bytes:
    """Return the signing key that all hosts of a run share. The key follows from the seed, and so is no secret."""
    return hashlib.sha512(f"simunix htcondor key {seed}".encode()).hexdigest().encode()[:KEY_BYTES]


def start_ranks() -> str:
    """Return a program that starts its arguments on each core of a job, as rank 0, 1, … (PMI_RANK), and waits for all
    ranks.

    HTCondor tells a job the number of its cores in OMP_NUM_THREADS.
    """
    return (
        "#!/bin/sh\n"
        "rank=0\n"
        "while [ $rank -lt ${OMP_NUM_THREADS:-1} ]; do\n"
        '    PMI_RANK=$rank "$@" &\n'
        '    rank=$((rank + 1)) started="$started $!"\n'
        "done\n"
        "code=0\n"
        "for each in $started; do wait $each || code=$?; done\n"
        "exit $code\n"
    )
