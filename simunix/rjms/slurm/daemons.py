"""The daemons of Slurm: which run on which host, which private paths they need, and munge's key, which follows from the
seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from simunix.launch.plan import FileSpec, Footprint, PrivateSpec, ProcessSpec
from simunix.rjms.slurm import configuration

MUNGED, SLURMCTLD, SLURMD = "/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd"
MUNGE_USER = "munge"
MUNGE_KEY = "/etc/munge/munge.key"
MUNGE_START_NS = 0
MUNGE_PLUGINS = {"authtype": "auth/munge", "credtype": "cred/munge"}
SLURMCTLD_START_NS = 1 * 10**9
SLURMD_START_NS = 2 * 10**9
WAVE_HOSTS = 32
WAVE_NS = 50 * 10**6
"""The pause between the starts of groups of hosts: hosts boot one group after the other, as in a machine room.

If thousands of daemons started at one moment, they would delay each other. Besides, the pages of one group can be
merged with those of groups before. The next group begins when the present one has nothing more to do at its moment of
virtual time.
"""

MUNGE_PATHS = (
    PrivateSpec("/etc/munge", MUNGE_USER, 0o700),
    PrivateSpec("/var/lib/munge", MUNGE_USER, 0o711),
    PrivateSpec("/var/log/munge", MUNGE_USER, 0o700),
    PrivateSpec("/run/munge", MUNGE_USER, 0o755),
)
ETC = PrivateSpec("/etc/slurm")


# measured with Slurm 22.05 on x86-64: the private memory of daemons in clusters of 16 to 1,024 nodes, and of a job's
# slurmstepd
MUNGED_FOOTPRINT = Footprint(480 << 10, 4)
CONTROLLER_BYTES, CONTROLLER_BYTES_PER_NODE, CONTROLLER_THREADS = 4 << 20, 12 << 10, 256
SLURMD_BYTES, SLURMD_BYTES_PER_NODE = 1150 << 10, 1400
STEP_BYTES, STEP_THREADS, STEP_PROCESSES = 3 << 20, 8, 3


def munge_key(seed: int) -> bytes:
    """Return munge's key of 128 bytes, which all hosts of a run share. The key follows from the seed, and so is no
    secret.
    """
    return b"".join(hashlib.sha256(f"simunix munge key {seed} {part}".encode()).digest() for part in range(4))


def munge_user(is_root: bool) -> str | None:
    """Return the user of munged, which must own its files: the Debian package's user; None, meaning the caller, if the
    caller is not root.
    """
    return MUNGE_USER if is_root else None


def private_paths(is_controller: bool, is_node: bool, slurm_user: str) -> tuple[PrivateSpec, ...]:
    """Return the paths that a host of the cluster has for itself. slurmctld writes there as SlurmUser, slurmd as root."""
    paths = [*MUNGE_PATHS, ETC, PrivateSpec(configuration.LOGS, slurm_user)]
    if is_controller:
        paths.append(PrivateSpec(configuration.STATE, slurm_user, 0o755))
    if is_node:
        paths.append(PrivateSpec(configuration.SPOOL, "", 0o755))
    return tuple(paths)


def host_files(host: str, texts: Mapping[str, bytes], seed: int, is_root: bool) -> tuple[FileSpec, ...]:
    """Return the files of one host: Slurm's configuration files, by path in `texts`, and munge's key."""
    owner = MUNGE_USER if is_root else ""
    return (
        *(FileSpec(host, path, text) for path, text in texts.items()),
        FileSpec(host, MUNGE_KEY, munge_key(seed), owner, 0o400),
    )


def wave_ns(index: int) -> int:
    """Return the nanoseconds from the start of the first group of daemons to that of a host's group; `index` is the
    host's place among hosts with a daemon.
    """
    return index // WAVE_HOSTS * WAVE_NS


def uses_munge(settings: Mapping[str, str]) -> bool:
    """Return whether a configuration (lower-case keys) needs munged, which is Slurm's default for authentication and
    for credentials.
    """
    plugins = {settings.get(key, default) for key, default in MUNGE_PLUGINS.items()}
    return any(plugin.endswith("munge") for plugin in plugins)


def munged(host: str, is_root: bool, index: int = 0) -> ProcessSpec:
    """Return the process munged of a host. In a user namespace, the owner of / and /var is unknown, so munged gets the
    option that ignores this.
    """
    argv = (MUNGED, "--foreground") if is_root else (MUNGED, "--foreground", "--force")
    return ProcessSpec(
        "munged",
        host,
        argv,
        MUNGE_START_NS + wave_ns(index),
        user=munge_user(is_root),
        essential=True,
        footprint=MUNGED_FOOTPRINT,
    )


def slurmctld(host: str, nodes: int = 0) -> ProcessSpec:
    """Return the process slurmctld, the controller of `nodes` nodes."""
    footprint = Footprint(CONTROLLER_BYTES + nodes * CONTROLLER_BYTES_PER_NODE, CONTROLLER_THREADS)
    return ProcessSpec("slurmctld", host, (SLURMCTLD, "-D"), SLURMCTLD_START_NS, essential=True, footprint=footprint)


def slurmd(host: str, index: int = 0, nodes: int = 0) -> ProcessSpec:
    """Return the process slurmd of a compute node, one of `nodes`.

    The second thread of slurmd answers the controller's pings.
    """
    memory = SLURMD_BYTES + nodes * SLURMD_BYTES_PER_NODE
    footprint = Footprint(memory, 2, STEP_BYTES, STEP_THREADS, STEP_PROCESSES)
    start_ns = SLURMD_START_NS + wave_ns(index)
    return ProcessSpec("slurmd", host, (SLURMD, "-D"), start_ns, essential=True, footprint=footprint)
