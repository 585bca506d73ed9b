"""Which plugins of Slurm a benchmark's cluster has: its own defaults, those that look at processes, or those with cgroups."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plugins:
    """Parameters of slurm.conf, and the key `cgroup` of a scenario's section, as YAML writes mappings in a line."""

    parameters: str = ""
    cgroup: str = ""

    def section(self, others: str = "") -> str:
        """Return what the section says of these plugins, and of other parameters: text behind another key."""
        parameters = ", ".join(filter(None, (others, self.parameters)))
        of_slurm = f", parameters: {{{parameters}}}" if parameters else ""
        return of_slurm + (f", cgroup: {{{self.cgroup}}}" if self.cgroup else "")


PLAIN = Plugins()
"""What simunix takes where a scenario says nothing."""
WITHOUT_CGROUPS = Plugins(
    "ProctrackType: proctrack/linuxproc, TaskPlugin: task/affinity, JobAcctGatherType: jobacct_gather/linux, "
    "SelectTypeParameters: CR_Core_Memory"
)
"""What does without cgroups what the plugins with cgroups do: track, bind and count."""
WITH_CGROUPS = Plugins(
    "ProctrackType: proctrack/cgroup, TaskPlugin: 'task/cgroup,task/affinity', JobAcctGatherType: jobacct_gather/cgroup, "
    "SelectTypeParameters: CR_Core_Memory",
    "ConstrainCores: true, ConstrainRAMSpace: true, ConstrainSwapSpace: true",
)
"""As production has it."""
