"""The paths of Grid Engine in Debian's packages, and the environment of its programs."""

from __future__ import annotations

ADMINISTRATOR = "sgeadmin"
ROOT = "/var/lib/gridengine"
CELL = f"{ROOT}/default"
"""The cell's folder. On real clusters it is on a network file system, so all hosts of a cluster share it."""
COMMON = f"{CELL}/common"
ACCOUNTING = f"{COMMON}/accounting"
HOST_FILES = f"{CELL}/hosts/allocations"
"""The file that lists which hosts each parallel job got; see `configuration.keep_hosts`."""
KEEP_HOSTS = f"{CELL}/hosts/keep"
START_RANKS = f"{CELL}/hosts/start_ranks"
MASTER_SPOOL = "/var/spool/gridengine/qmaster"
EXECD_SPOOL = "/var/spool/gridengine/execd"
PROGRAMS = "/usr/lib/gridengine"
"""The folder of Grid Engine's programs. Its namesakes in /usr/bin are shell scripts that set the environment below by
starting a dozen processes.
"""
RESOURCES = "/usr/share/gridengine/util/resources"
MASTER_PORT, EXECD_PORT = 6444, 6445

ENVIRONMENT = {
    "SGE_ROOT": ROOT,
    "SGE_CELL": "default",
    "SGE_ARCH": "lx-amd64",
    "SGE_QMASTER_PORT": str(MASTER_PORT),
    "SGE_EXECD_PORT": str(EXECD_PORT),
    "PATH": f"{PROGRAMS}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}
