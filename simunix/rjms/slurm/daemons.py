"""Which daemons run where, with which private paths; munge's key from the seed."""

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
"""Hosts boot in waves, as a machine room does: thousands of daemons that start at one moment would be in each other's way, and
the memory of a wave can be merged with that of those before. The next begins when this one has no more to do at its moment."""

MUNGE_PATHS = (
    PrivateSpec("/etc/munge", MUNGE_USER, 0o700),
    PrivateSpec("/var/lib/munge", MUNGE_USER, 0o711),
    PrivateSpec("/var/log/munge", MUNGE_USER, 0o700),
    PrivateSpec("/run/munge", MUNGE_USER, 0o755),
)
ETC = PrivateSpec("/etc/slurm")


# Measured with Slurm 22.05 on x86-64: private memory of daemons in clusters of 16 to 1,024 nodes, and of a job's slurmstepd.
MUNGED_FOOTPRINT = Footprint(480 << 10, 4)
CONTROLLER_BYTES, CONTROLLER_BYTES_PER_NODE, CONTROLLER_THREADS = 4 << 20, 12 << 10, 256
SLURMD_BYTES, SLURMD_BYTES_PER_NODE = 1150 << 10, 1400
STEP_BYTES, STEP_THREADS, STEP_PROCESSES = 3 << 20, 8, 3


def munge_key(seed: int) -> bytes:
    """128 bytes that all hosts of a run share; reproducible, so no secret."""
    return b"".join(hashlib.sha256(f"simunix munge key {seed} {part}".encode()).digest() for part in range(4))


def munge_user(is_root: bool) -> str | None:
    """Return the user of munged, which insists on owning its files: the package's user; None, for the caller, without
    root.
    """
    return MUNGE_USER if is_root else None


def private_paths(is_controller: bool, is_node: bool, slurm_user: str) -> tuple[PrivateSpec, ...]:
    """Paths that a host of the cluster has for itself; slurmctld writes as SlurmUser, slurmd as root."""
    paths = [*MUNGE_PATHS, ETC, PrivateSpec(configuration.LOGS, slurm_user)]
    if is_controller:
        paths.append(PrivateSpec(configuration.STATE, slurm_user, 0o755))
    if is_node:
        paths.append(PrivateSpec(configuration.SPOOL, "", 0o755))
    return tuple(paths)


def host_files(host: str, texts: Mapping[str, bytes], seed: int, is_root: bool) -> tuple[FileSpec, ...]:
    """Slurm's configuration files (by path) and munge's key for one host."""
    owner = MUNGE_USER if is_root else ""
    return (
        *(FileSpec(host, path, text) for path, text in texts.items()),
        FileSpec(host, MUNGE_KEY, munge_key(seed), owner, 0o400),
    )


def wave_ns(index: int) -> int:
    """Nanoseconds from the first wave to that of a host, by the host's place among those that get a daemon."""
    return index // WAVE_HOSTS * WAVE_NS


def uses_munge(settings: Mapping[str, str]) -> bool:
    """Return whether a configuration (keys in small letters) wants munged: Slurm's default for authentication and for
    credentials.
    """
    plugins = {settings.get(key, default) for key, default in MUNGE_PLUGINS.items()}
    return any(plugin.endswith("munge") for plugin in plugins)


def munged(host: str, is_root: bool, index: int = 0) -> ProcessSpec:
    """munged on a host. In a user namespace the owner of / and /var is unknown there, so munged must be told to go on."""
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
    """slurmctld, the controller of so many nodes."""
    footprint = Footprint(CONTROLLER_BYTES + nodes * CONTROLLER_BYTES_PER_NODE, CONTROLLER_THREADS)
    return ProcessSpec("slurmctld", host, (SLURMCTLD, "-D"), SLURMCTLD_START_NS, essential=True, footprint=footprint)


def slurmd(host: str, index: int = 0, nodes: int = 0) -> ProcessSpec:
    """slurmd, the daemon of a compute node, one of so many; a second thread answers pings."""
    memory = SLURMD_BYTES + nodes * SLURMD_BYTES_PER_NODE
    footprint = Footprint(memory, 2, STEP_BYTES, STEP_THREADS, STEP_PROCESSES)
    start_ns = SLURMD_START_NS + wave_ns(index)
    return ProcessSpec("slurmd", host, (SLURMD, "-D"), start_ns, essential=True, footprint=footprint)
