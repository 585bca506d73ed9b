"""slurm.conf in production shape, written from the platform. Pure text; man slurm.conf(5) of Slurm 22.05 is the source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from simunix.launch.view.hardware import Hardware
from simunix.ranges import fold_hosts
from simunix.rjms.slurm.releases import Release

STATE = "/var/spool/slurmctld"
SPOOL = "/var/spool/slurmd"
LOGS = "/var/log/slurm"
CONFIG = "/etc/slurm/slurm.conf"
CGROUP_CONFIG = "/etc/slurm/cgroup.conf"
CGROUP_CONF = """# Written by simunix: slurm.conf asks for no plugin with cgroups.
CgroupPlugin={plugin}
"""
CGROUPS_IN_USE = {"CgroupPlugin": "cgroup/v2", "IgnoreSystemd": "yes"}
"""Hosts have cgroups of version 2, and no systemd."""
CGROUP_PLUGIN_KINDS = {"proctracktype": "proctrack/cgroup", "taskplugin": "", "jobacctgathertype": ""}
"""Parameters whose plugins may use cgroups, in small letters, and what Slurm takes where they are not said."""
FIRST_WITH_V2: Release = (22, 5)
CGROUP_PLUGINS: tuple[tuple[Release, str], ...] = (((23, 11), "disabled"), ((22, 5), "cgroup/v1"))
"""From a release on slurmd loads a plugin for cgroups whatever else is configured; that of version 2 sets up a cgroup at once,
that of version 1 does nothing until it is used. The first row that is not newer than the host's release counts."""
JOBCOMP = f"{LOGS}/jobcomp.log"
SLURMD_PORT = 6818
SLURMCTLD_PORT = 6817


@dataclass(frozen=True, slots=True)
class ComputeNode:
    """A node as slurm.conf names it. Memory is what Slurm may give to jobs."""

    name: str
    address: str
    hardware: Hardware


@dataclass(frozen=True, slots=True)
class SlurmCluster:
    """A cluster to configure. `scheduler` goes to SchedulerParameters, `extra` is appended as it is.

    `dbd` is the host of slurmdbd, if there is one; `enforce` goes to AccountingStorageEnforce.
    """

    name: str
    controller: str
    controller_address: str
    nodes: tuple[ComputeNode, ...]
    partition: str = "batch"
    scheduler: str = ""
    extra: str = ""
    dbd: str = ""
    enforce: str = ""


def node_lines(nodes: Iterable[ComputeNode]) -> str:
    """Return lines of NodeName, with the sizes that the host itself shows in /proc and /sys.

    Nodes that are alike and whose addresses follow each other share a line, as production writes it: every daemon on every node
    reads this file, so a line for each would cost the square of their number.
    """
    groups: list[list[ComputeNode]] = []
    for node in nodes:
        if groups and _follows(groups[-1][-1], node):
            groups[-1].append(node)
        else:
            groups.append([node])
    return "\n".join(_node_line(group) for group in groups)


def _follows(before: ComputeNode, node: ComputeNode) -> bool:
    """Return whether a line that ends with one node can go on with another: Slurm folds the last number of an address
    only.
    """
    if node.hardware != before.hardware:
        return False
    first, second = ip_address(before.address), ip_address(node.address)
    return first.version == second.version == 4 and int(second) == int(first) + 1 and int(second) % 256 != 0


def _node_line(group: Sequence[ComputeNode]) -> str:
    hardware = group[0].hardware
    return (
        f"NodeName={fold_hosts(node.name for node in group)} NodeAddr={fold_hosts(node.address for node in group)} "
        f"CPUs={hardware.cpus} Sockets={hardware.sockets} "
        f"CoresPerSocket={hardware.cores_per_socket} ThreadsPerCore={hardware.threads_per_core} "
        f"RealMemory={hardware.memory_bytes * 15 // 16 // (1 << 20)} State=UNKNOWN"
    )


def accounting_lines(cluster: SlurmCluster) -> str:
    """Return where slurm.conf says that jobs are recorded, besides jobcomp."""
    if not cluster.dbd:
        return "AccountingStorageType=accounting_storage/none"
    lines = ["AccountingStorageType=accounting_storage/slurmdbd", f"AccountingStorageHost={cluster.dbd}"]
    if cluster.enforce:
        lines.append(f"AccountingStorageEnforce={cluster.enforce}")
    return "\n".join(lines)


def asks_for_cgroups(settings: Mapping[str, str]) -> bool:
    """Return whether a slurm.conf names a plugin that uses cgroups; `settings` have its parameters, names in small
    letters.
    """
    return any("cgroup" in settings.get(kind, default).lower() for kind, default in CGROUP_PLUGIN_KINDS.items())


def cgroup_conf(parameters: Mapping[str, object]) -> str:
    """Return the cgroup.conf of a cluster whose plugins use cgroups; `parameters` are added to it, or replace what
    simunix says.
    """
    given = {name.lower(): name for name in parameters}
    lines = {name: value for name, value in CGROUPS_IN_USE.items() if name.lower() not in given}
    texts = {name: ("yes" if value else "no") if isinstance(value, bool) else value for name, value in parameters.items()}
    return "".join(f"{name}={value}\n" for name, value in (lines | texts).items())


def files(conf: str, release: Release, cgroups: str = "") -> dict[str, bytes]:
    """Return all configuration files of a host with this release, by path; `conf` is its slurm.conf, `cgroups` its
    cgroup.conf.
    """
    texts = {CONFIG: conf.encode()}
    if cgroups:
        return texts | {CGROUP_CONFIG: cgroups.encode()}
    plugin = next((plugin for since, plugin in CGROUP_PLUGINS if release >= since), "")
    if plugin:
        texts[CGROUP_CONFIG] = CGROUP_CONF.format(plugin=plugin).encode()
    return texts


def slurm_conf(cluster: SlurmCluster) -> str:
    """Return the whole slurm.conf. Daemons run as root; no multiple-slurmd option; a node has its own name, address and
    port 6818.
    """
    scheduler = f"SchedulerParameters={cluster.scheduler}\n" if cluster.scheduler else ""
    nodes = node_lines(cluster.nodes)
    names = fold_hosts(node.name for node in cluster.nodes)
    return f"""# Written by simunix from the scenario's platform.
ClusterName={cluster.name}
SlurmctldHost={cluster.controller}({cluster.controller_address})
SlurmctldPort={SLURMCTLD_PORT}
SlurmdPort={SLURMD_PORT}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation={STATE}
SlurmdSpoolDir={SPOOL}
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile={LOGS}/slurmctld.log
SlurmdLogFile={LOGS}/slurmd.log
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
ReturnToService=2
EnforcePartLimits=ALL
SchedulerType=sched/backfill
{scheduler}SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobCompType=jobcomp/filetxt
JobCompLoc={JOBCOMP}
JobAcctGatherType=jobacct_gather/none
{accounting_lines(cluster)}
MailProg=/bin/true
{nodes}
PartitionName={cluster.partition} Nodes={names} Default=YES MaxTime=INFINITE State=UP
{cluster.extra}"""
