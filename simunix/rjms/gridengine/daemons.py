"""The daemons of Grid Engine: which run on which host, and which paths of the host they need for themselves."""

from __future__ import annotations

from simunix.launch.plan import Footprint, PrivateSpec, ProcessSpec
from simunix.rjms.gridengine.layout import (
    ADMINISTRATOR,
    CELL,
    COMMON,
    ENVIRONMENT,
    EXECD_SPOOL,
    MASTER_SPOOL,
    PROGRAMS,
    RESOURCES,
)

SHARED = PrivateSpec(CELL, ADMINISTRATOR, 0o755, shared=True)
MASTER_PATH = PrivateSpec(MASTER_SPOOL, ADMINISTRATOR)
EXECD_PATH = PrivateSpec(EXECD_SPOOL, ADMINISTRATOR)
MASTER_START_NS = 1 * 10**9
EXECD_START_NS = 3 * 10**9
WAVE_HOSTS = 32
WAVE_NS = 50 * 10**6
"""The pause between the starts of groups of hosts: hosts boot one group after the other, as in a machine room."""

# the private memory of sge_qmaster and sge_execd 8.1.9 with 20 nodes, and of a job's sge_shepherd and shell (x86-64)
MASTER_BYTES, MASTER_BYTES_PER_NODE, MASTER_THREADS = 12 << 20, 12 << 10, 16
EXECD_FOOTPRINT = Footprint(2 << 20, 5, 4 << 20, 3, 3)

_MASTER = f"""set -e
mkdir -p {CELL}/hosts
{PROGRAMS}/spoolinit classic libspoolc '{COMMON};{MASTER_SPOOL}' init
{PROGRAMS}/spooldefaults complexes {RESOURCES}/centry
{PROGRAMS}/spooldefaults usersets {RESOURCES}/usersets
chown -R {ADMINISTRATOR} {CELL} {MASTER_SPOOL}
exec {PROGRAMS}/sge_qmaster"""
"""A script that prepares a new cell as Debian's init_cluster and inst_sge do, and then runs the daemon in the
foreground (SGE_ND).
"""


def private_paths(is_controller: bool, is_node: bool) -> tuple[PrivateSpec, ...]:
    """Return the paths that a host of the cluster has for itself, or shares with all other hosts of the cluster."""
    return (SHARED, *((MASTER_PATH,) if is_controller else ()), *((EXECD_PATH,) if is_node else ()))


def qmaster(host: str, nodes: int) -> ProcessSpec:
    """Return the process sge_qmaster of the controller; the scheduler is one of its threads."""
    footprint = Footprint(MASTER_BYTES + nodes * MASTER_BYTES_PER_NODE, MASTER_THREADS)
    return ProcessSpec(
        "qmaster",
        host,
        ("/bin/sh", "-c", _MASTER),
        MASTER_START_NS,
        environment={**ENVIRONMENT, "SGE_ND": "1"},
        essential=True,
        footprint=footprint,
    )


def execd(host: str, index: int) -> ProcessSpec:
    """Return the process sge_execd of a node."""
    return ProcessSpec(
        "execd",
        host,
        (f"{PROGRAMS}/sge_execd",),
        EXECD_START_NS + index // WAVE_HOSTS * WAVE_NS,
        environment={**ENVIRONMENT, "SGE_ND": "1"},
        essential=True,
        footprint=EXECD_FOOTPRINT,
    )
