"""The keys of the `slurm:` section about power."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from rsg_server.platform.power import watts
from simunix.scenario.section import QUANTITY, Duration, HostList, Section, Speed

SECOND_NS = 10**9


def _interval(value: int) -> int:
    """Check that an interval is at least a second: a program that looks more often would keep virtual time from
    passing.
    """
    if value < SECOND_NS:
        raise ValueError("expected a second or more, such as 30s")
    return value


Interval = Annotated[Duration, AfterValidator(_interval)]
"""The interval, in nanoseconds, between two looks of a program that runs beside slurmctld."""


class PowerSavingSection(Section):
    """Slurm's own power saving (slurm.conf(5)): nodes that stay idle are switched off, and boot when a job gets them.

    Without `suspend_time` nodes go off only when `scontrol update NodeName=… State=POWER_DOWN` says so.
    """

    suspend_time: Duration | None = None
    suspend_timeout: Duration = 30 * 10**9
    resume_timeout: Duration = 60 * 10**9
    suspend_rate: Annotated[int, Field(ge=0)] = 60
    resume_rate: Annotated[int, Field(ge=0)] = 300
    exclude: HostList = ()


def _cap(value: object) -> str:
    """Return a value in watts, or a percentage, as a text."""
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
    """A power cap: the most that all nodes and enclosures may draw from `start` to `end`. Slurm knows of the cap from
    `announced` on.
    """

    watts: Annotated[str, BeforeValidator(_cap), QUANTITY]
    start: Duration = 0
    end: Duration
    announced: Duration = 0


def _joules(value: object) -> str:
    """Return a value in joules, or a percentage, as a text."""
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
    """An energy budget: the joules that all nodes and enclosures may consume from `start` to `end`, after Glesser's
    chapter 5.

    The power limit is the joules divided by the seconds. With `powercap`, no job starts that would exceed the power
    limit. With `energyBud`, the first job of the queue may exceed it if enough joules have been saved; while joules
    alone are missing, no other job starts. With `reducePC`, other jobs meanwhile start below a lower limit.
    """

    policy: Literal["powercap", "energyBud", "reducePC"]
    joules: Annotated[str, BeforeValidator(_joules), QUANTITY]
    start: Duration = 0
    end: Duration
    announced: Duration = 0
    interval: Interval = 30 * 10**9
    margin: Duration = 120 * 10**9


class PowerCapSection(Section):
    """A program beside slurmctld that keeps the nodes below power caps (`simunix.rjms.slurm.power.guest.power_cap`).

    With `idle`, jobs wait, and nodes stay idle. With `shut`, nodes are switched off. With `dvfs`, jobs compute at lower
    frequencies. With `mix`, both happen, at no frequency below `floor`. With `highest`, each job gets the highest
    frequency that fits when it starts; later jobs get what is left. With `even`, no job gets a higher frequency than
    all nodes that are on could have together.
    """

    policy: Literal["idle", "shut", "dvfs", "mix"]
    caps: Annotated[list[CapSection], Field(min_length=1)]
    floor: Speed | None = None
    frequencies: Literal["highest", "even"] = "highest"
    interval: Interval = 30 * 10**9
    margin: Duration = 120 * 10**9


class EnergyFairShareSection(Section):
    """A program beside slurmctld that sets the priorities of jobs by joules
    (`simunix.rjms.slurm.power.guest.energy_fairshare`).

    With `efs`, the joules of a user's ended jobs count. With `fs+efs`, these and Slurm's own fair-share count equally.
    """

    policy: Literal["efs", "fs+efs"] = "efs"
    weight: Annotated[int, Field(ge=1, le=2_147_483_645)] = 100_000
    interval: Duration = 30 * 10**9
