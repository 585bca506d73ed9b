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
    """`accounting_storage/slurmdbd`, as slurm.conf spells it, is `slurmdbd` here."""
    return value.removeprefix("accounting_storage/") if isinstance(value, str) else value


class SlurmSection(ClusterSection):
    """A Slurm cluster: its configuration is written from the platform, or taken as it is (`config`).

    `parameters` of slurm.conf replace what stands there; null takes one out. `cgroup` are parameters of cgroup.conf, which
    counts if a plugin of slurm.conf uses cgroups.

    Its Slurm is that of its hosts' root file systems. Several clusters are a list; their names and hosts must differ.

    `accounting_storage_type: slurmdbd` brings up slurmdbd on `accounting_storage_host` (default: the controller) and its
    MariaDB on `storage_host` (default: the same), registers the cluster, tells each line of `sacctmgr` (such as `add account
    physics`) to the command of that name, and starts slurmctld. With `accounting_storage_shared`, slurmdbd is that of another
    cluster of the scenario, which has its host: clusters of a federation share one.

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
