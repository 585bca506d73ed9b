"""Keys of the `slurm:` section about power."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from rsg_server.platform.power import watts
from simunix.scenario.section import QUANTITY, Duration, HostList, Section, Speed

SECOND_NS = 10**9


def _interval(value: int) -> int:
    """Return a program that would look more often than each second would keep virtual time from passing."""
    if value < SECOND_NS:
        raise ValueError("expected a second or more, such as 30s")
    return value


Interval = Annotated[Duration, AfterValidator(_interval)]
"""Nanoseconds between two looks of a program beside slurmctld."""


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


def _joules(value: object) -> str:
    """Joules, or a percentage, as text."""
    if str(value).strip().endswith("%"):
        return _cap(value)
    try:
        joules = 0.0 if isinstance(value, bool) else float(str(value))
    except ValueError:
        joules = 0.0
    if not 0 < joules < 1e18:
        raise ValueError(f"expected joules such as 2.5e9, or a part of the maximum such as '60%', got {str(value)[:60]!r}")
    return str(joules)


class PowerBudgetSection(Section):
    """Joules that all nodes and enclosures may consume from `start` to `end`; after Glesser's chapter 5.

    The power limit is joules by seconds. `powercap`: no job starts that would break it; `energyBud`: the first job of the queue
    may, if as many joules have been saved, and while it lacks joules only, no other job starts; `reducePC`: meanwhile others
    start below a lower limit.
    """

    policy: Literal["powercap", "energyBud", "reducePC"]
    joules: Annotated[str, BeforeValidator(_joules), QUANTITY]
    start: Duration = 0
    end: Duration
    announced: Duration = 0
    interval: Interval = 30 * 10**9
    margin: Duration = 120 * 10**9


class PowerCapSection(Section):
    """A controller beside slurmctld that keeps the nodes below caps (`simunix.rjms.slurm.power.guest.power_cap`).

    `idle`: jobs wait, and nodes stay idle; `shut`: nodes go off; `dvfs`: jobs compute at lower frequencies; `mix`: both, with
    no frequency below `floor`. `highest`: each job has the highest frequency that fits when it starts, and leaves what is left
    to those that come; `even`: no job has a higher one than all nodes that are on could have.
    """

    policy: Literal["idle", "shut", "dvfs", "mix"]
    caps: Annotated[list[CapSection], Field(min_length=1)]
    floor: Speed | None = None
    frequencies: Literal["highest", "even"] = "highest"
    interval: Interval = 30 * 10**9
    margin: Duration = 120 * 10**9


class EnergyFairShareSection(Section):
    """A program beside slurmctld that sets priorities by joules (`simunix.rjms.slurm.power.guest.energy_fairshare`).

    `efs`: by the joules of the jobs of their users that have ended; `fs+efs`: by these and, as much, by Slurm's own fair-share.
    """

    policy: Literal["efs", "fs+efs"] = "efs"
    weight: Annotated[int, Field(ge=1, le=2_147_483_645)] = 100_000
    interval: Duration = 30 * 10**9
