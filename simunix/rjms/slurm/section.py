"""The `slurm:` section of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from simunix.rjms.adapter import ClusterSection
from simunix.rjms.slurm.burst_buffers import BurstBufferSection
from simunix.rjms.slurm.power.sections import EnergyFairShareSection, PowerBudgetSection, PowerCapSection, PowerSavingSection
from simunix.scenario.section import HostList


def _without_plugin_kind(value: object) -> object:
    """Return a plugin's name without its kind: `accounting_storage/slurmdbd`, as slurm.conf spells it, becomes
    `slurmdbd`.
    """
    return value.removeprefix("accounting_storage/") if isinstance(value, str) else value


class SlurmSection(ClusterSection):
    """A Slurm cluster. simunix writes its configuration from the platform, or takes the user's own (`config`).

    `parameters` replace parameters of slurm.conf; null removes a parameter. `cgroup` has parameters of cgroup.conf,
    which is used if a plugin of slurm.conf uses cgroups.

    The cluster's Slurm is the one in the root file system of its hosts. Several clusters are a list; their names and
    hosts must differ.

    `accounting_storage_type: slurmdbd` starts slurmdbd on `accounting_storage_host` (default: the controller) and its
    MariaDB on `storage_host` (default: the same host). It registers the cluster, runs the command sacctmgr with each
    line of `sacctmgr` (such as `add account physics`), and starts slurmctld. With `accounting_storage_shared`, the
    cluster uses the slurmdbd of another cluster of the scenario, as clusters of a federation do.

    `burst_buffers` are pools of Slurm's plugin burst_buffer/lua. See docs/guide/slurm.md.
    """

    controller: str
    nodes: HostList
    login: str | None = None
    partition: str = "batch"
    scheduler_parameters: str = ""
    extra: str = ""
    parameters: dict[str, str | int | float | bool | None] = {}
    cgroup: dict[str, str | int | float | bool] = {}
    config: Path | None = Field(default=None, strict=False)
    accounting_storage_type: Annotated[Literal["none", "slurmdbd"], BeforeValidator(_without_plugin_kind)] = "none"
    accounting_storage_host: str | None = None
    accounting_storage_shared: bool = False
    accounting_storage_enforce: str = ""
    storage_host: str | None = None
    sacctmgr: list[str] = []
    usage: dict[str, dict[str, float]] = {}
    power_saving: PowerSavingSection | None = None
    power_cap: PowerCapSection | None = None
    burst_buffers: list[BurstBufferSection] = []
    power_budget: PowerBudgetSection | None = None
    energy_fairshare: EnergyFairShareSection | None = None
    capmc: str | None = None
