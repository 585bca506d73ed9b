"""Write a slurm.conf like that of a production cluster from the platform, by slurm.conf(5) of Slurm 22.05. The
functions only make text.
"""

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
"""The parameters of cgroup.conf for the hosts of simunix, which have cgroups of version 2 and no systemd."""
CGROUP_PLUGIN_KINDS = {"proctracktype": "proctrack/cgroup", "taskplugin": "", "jobacctgathertype": ""}
"""The parameters, in lower case, whose plugins may use cgroups, and Slurm's defaults for them."""
FIRST_WITH_V2: Release = (22, 5)
CGROUP_PLUGINS: tuple[tuple[Release, str], ...] = (((23, 11), "disabled"), ((22, 5), "cgroup/v1"))
"""The CgroupPlugin that hosts without a use for cgroups get, by the first release to which a row applies.

From some release on, slurmd loads a plugin for cgroups in any case. The plugin for version 2 sets up a cgroup at once;
the one for version 1 does nothing until it is used. The first row that is not newer than the host's release applies.
"""
JOBCOMP = f"{LOGS}/jobcomp.log"
SLURMD_PORT = 6818
SLURMCTLD_PORT = 6817


@dataclass(frozen=True, slots=True)
class ComputeNode:
    """A node as slurm.conf describes it. The node's memory is the memory that Slurm may give to jobs."""

    name: str
    address: str
    hardware: Hardware


@dataclass(frozen=True, slots=True)
class SlurmCluster:
    """The facts from which slurm.conf is written. `scheduler` is the value of SchedulerParameters; the text `extra` is
    appended unchanged.

    `dbd` is the host of slurmdbd, if there is one; `enforce` is the value of AccountingStorageEnforce.
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
    """Return the NodeName lines, with the sizes that each host shows in /proc and /sys.

    Equal nodes with consecutive addresses share a line, as in production. Every daemon on every node reads slurm.conf,
    so with a line for each node the time to read grows with the square of the number of nodes.
    """
    groups: list[list[ComputeNode]] = []
    for node in nodes:
        if groups and _follows(groups[-1][-1], node):
            groups[-1].append(node)
        else:
            groups.append([node])
    return "\n".join(_node_line(group) for group in groups)


def _follows(before: ComputeNode, node: ComputeNode) -> bool:
    """Return whether a NodeName line that ends with `before` can be extended by `node`: Slurm's lists can count only
    the last number of an address.
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
    """Return the lines of slurm.conf about the accounting of jobs, other than jobcomp."""
    if not cluster.dbd:
        return "AccountingStorageType=accounting_storage/none"
    lines = ["AccountingStorageType=accounting_storage/slurmdbd", f"AccountingStorageHost={cluster.dbd}"]
    if cluster.enforce:
        lines.append(f"AccountingStorageEnforce={cluster.enforce}")
    return "\n".join(lines)


def asks_for_cgroups(settings: Mapping[str, str]) -> bool:
    """Return whether a slurm.conf names a plugin that uses cgroups; `settings` has its parameters by lower-case name."""
    return any("cgroup" in settings.get(kind, default).lower() for kind, default in CGROUP_PLUGIN_KINDS.items())


def cgroup_conf(parameters: Mapping[str, object]) -> str:
    """Return the cgroup.conf of a cluster whose plugins use cgroups; `parameters` add to simunix's values or replace
    them.
    """
    given = {name.lower(): name for name in parameters}
    lines = {name: value for name, value in CGROUPS_IN_USE.items() if name.lower() not in given}
    texts = {name: ("yes" if value else "no") if isinstance(value, bool) else value for name, value in parameters.items()}
    return "".join(f"{name}={value}\n" for name, value in (lines | texts).items())


def files(conf: str, release: Release, cgroups: str = "") -> dict[str, bytes]:
    """Return all configuration files of a host with this release, by path; `conf` is the text of slurm.conf, `cgroups`
    that of cgroup.conf.
    """
    texts = {CONFIG: conf.encode()}
    if cgroups:
        return texts | {CGROUP_CONFIG: cgroups.encode()}
    plugin = next((plugin for since, plugin in CGROUP_PLUGINS if release >= since), "")
    if plugin:
        texts[CGROUP_CONFIG] = CGROUP_CONF.format(plugin=plugin).encode()
    return texts


def slurm_conf(cluster: SlurmCluster) -> str:
    """Return the complete slurm.conf. Daemons run as root; each node has its own name and address, with port 6818, so
    Slurm needs no multiple-slurmd option.
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
