"""The daemons of HTCondor: which roles the condor_master of each host has, and which paths of the host it needs for
itself.
"""

from __future__ import annotations

from simunix.launch.plan import FileSpec, Footprint, PrivateSpec, ProcessSpec
from simunix.rjms.htcondor import layout
from simunix.rjms.htcondor.configuration import Pool, pool_config, pool_key, start_ranks

PRIVATE = (
    PrivateSpec(layout.ETC, copied=True),
    *(
        PrivateSpec(path, layout.OWNER)
        for path in (layout.SPOOL, layout.LOG, layout.EXECUTE, layout.CREDENTIALS, layout.LOCK, layout.RUN)
    ),
)
START_NS = {"CentralManager": 1 * 10**9, "Submit": 2 * 10**9, "Execute": 3 * 10**9}
"""When condor_master starts on a host, by the host's first role. The daemons look for the collector, and try again only
after a minute.
"""
# the private memory of daemons of HTCondor 23.9.6 (x86-64, one thread each) with four nodes: of every host's
# (condor_master, condor_shared_port, condor_procd), of each role's, and of a job's starter, shadow and program
COMMON_BYTES, COMMON_DAEMONS = 4700 << 10, 3
ROLE_DAEMONS = {"CentralManager": (5800 << 10, 2), "Submit": (5800 << 10, 1), "Execute": (3050 << 10, 1)}
JOB_BYTES, JOB_PROCESSES = 4 << 20, 3

WAVE_HOSTS = 32
WAVE_NS = 50 * 10**6
"""The pause between the starts of groups of hosts: hosts boot one group after the other, as in a machine room."""


def host_files(pool: Pool, host: str, seed: int) -> tuple[FileSpec, ...]:
    """Return the files of a host: the pool's configuration and key, and the program that starts the ranks of a job."""
    return (
        FileSpec(host, layout.POOL, pool_config(pool, host).encode()),
        FileSpec(host, layout.KEY, pool_key(seed), mode=0o600),
        FileSpec(host, layout.START_RANKS, start_ranks().encode(), mode=0o755),
    )


def master(pool: Pool, host: str, index: int) -> ProcessSpec:
    """Return the process condor_master of a host, which starts and watches the daemons of the host's roles."""
    start_ns = START_NS[pool.roles(host)[0]] + index // WAVE_HOSTS * WAVE_NS
    argv = (layout.MASTER, "-f")
    return ProcessSpec("condor_master", host, argv, start_ns, essential=True, footprint=footprint(pool, host))


def footprint(pool: Pool, host: str) -> Footprint:
    """Return the memory and threads of a host's condor_master with its daemons. A job adds a starter on the node and a
    shadow on the login host.
    """
    own = [ROLE_DAEMONS[role] for role in pool.roles(host)]
    memory, daemons = COMMON_BYTES + sum(memory for memory, _ in own), COMMON_DAEMONS + sum(count for _, count in own)
    work = (JOB_BYTES, JOB_PROCESSES, JOB_PROCESSES) if host in pool.nodes else (0, 0, 0)
    return Footprint(memory, daemons, *work)
