"""Keys of the `slurm:` section about power."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from rsg_server.platform.power import watts
from simunix.scenario.section import QUANTITY, Duration, HostList, Section, Speed


class PowerSavingSection(Section):
    """Slurm's own power saving (slurm.conf(5)): nodes that stay idle go off, and boot when a job gets them.

    Without `suspend_time` nodes go off only when `scontrol update NodeName=… State=POWER_DOWN` says so.
    """

    suspend_time: Duration | None = None
    suspend_timeout: Duration = 30 * 10**9
    resume_timeout: Duration = 60 * 10**9
    suspend_rate: Annotated[int, Field(ge=0)] = 60
    resume_rate: Annotated[int, Field(ge=0)] = 300
    exclude: HostList = ()


def _cap(value: object) -> str:
    """Watts, or a percentage, as text."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"expected watts such as 1.2e6, '1200kW', or a part of the maximum such as '60%', got {value!r}")
    text = str(value).strip()
    try:
        percent = float(text[:-1]) if text.endswith("%") else None
    except ValueError:
        percent = -1.0
    if percent is None:
        watts(text)
    elif not 0 < percent <= 100:
        raise ValueError(f"expected a part of the maximum above 0% and up to 100%, got {text[:60]!r}")
    return text


class CapSection(Section):
    """What all nodes and enclosures may draw from `start` to `end` of the run; Slurm knows of it since `announced`."""

    watts: Annotated[str, BeforeValidator(_cap), QUANTITY]
    start: Duration = 0
    end: Duration
    announced: Duration = 0


class PowerCapSection(Section):
    """A controller beside slurmctld that keeps the nodes below caps (`simunix.rjms.slurm.power.guest.power_cap`).

    `idle`: jobs wait, and nodes stay idle; `shut`: nodes go off; `dvfs`: jobs compute at lower frequencies; `mix`: both, with
    no frequency below `floor`.
    """

    policy: Literal["idle", "shut", "dvfs", "mix"]
    caps: Annotated[list[CapSection], Field(min_length=1)]
    floor: Speed | None = None
    interval: Duration = 30 * 10**9
    margin: Duration = 120 * 10**9
