"""The sets of Slurm's plugins that a benchmark's cluster can have: simunix's defaults, plugins that look at processes,
or plugins with cgroups.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plugins:
    """Parameters of slurm.conf, and the key `cgroup` of a scenario's `slurm:` section, as YAML mappings on one line."""

    parameters: str = ""
    cgroup: str = ""

    def section(self, others: str = "") -> str:
        """Return the text of the section for these plugins and for `others`, which are further parameters; it is put
        behind another key.
        """
        parameters = ", ".join(filter(None, (others, self.parameters)))
        of_slurm = f", parameters: {{{parameters}}}" if parameters else ""
        return of_slurm + (f", cgroup: {{{self.cgroup}}}" if self.cgroup else "")


PLAIN = Plugins()
"""simunix's own default plugins for Slurm."""
WITHOUT_CGROUPS = Plugins(
    "ProctrackType: proctrack/linuxproc, TaskPlugin: task/affinity, JobAcctGatherType: jobacct_gather/linux, "
    "SelectTypeParameters: CR_Core_Memory"
)
"""Plugins that do without cgroups what the plugins with cgroups do: track processes, bind them to cores, and count
their use.
"""
WITH_CGROUPS = Plugins(
    "ProctrackType: proctrack/cgroup, TaskPlugin: 'task/cgroup,task/affinity', JobAcctGatherType: jobacct_gather/cgroup, "
    "SelectTypeParameters: CR_Core_Memory",
    "ConstrainCores: true, ConstrainRAMSpace: true, ConstrainSwapSpace: true",
)
"""Slurm's plugins with cgroups, as production clusters have them."""
