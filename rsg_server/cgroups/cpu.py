"""The cpu.* control files of cgroups: a group's share of the processors, its quota, and the CPU time it has used."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from rsg_server.cgroups.control_file import EVERYWHERE, ControlFile, RefusedError, Request, decimal
from rsg_server.cgroups.group import NO_LIMIT, Group
from rsg_server.processor.accounts import NO_QUOTA, Account

if TYPE_CHECKING:
    from rsg_server.cgroups.hierarchy import Hierarchy
    from rsg_server.process.process import Process

US = 1000
QUOTA, PERIOD, WEIGHT, BURST, IDLE = "cpu.max", "cpu.max period", "cpu.weight", "cpu.max.burst", "cpu.idle"
PERIOD_US, WEIGHT_AT_FIRST = 100_000, 100
THREAD_WEIGHT = 1024
_PERIODS_US = range(1_000, 1_000_001)
_WEIGHTS = range(1, 10_001)
_NICE_TO_WEIGHT = (
    *(
        88761,
        71755,
        56483,
        46273,
        36291,
        29154,
        23254,
        18705,
        14949,
        11916,
        9548,
        7620,
        6100,
        4904,
        3906,
        3121,
        2501,
        1991,
        1586,
    ),
    *(1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15),
)
"""The weight at the processors for each nice value from -20 on: sched_prio_to_weight of Linux's kernel/sched/core.c."""
USED = "cpu.stat"


def enters(process: Process) -> None:
    """Begin to count the CPU time of a process for the cgroup that it has entered."""
    process.cgroup_cpu_ns = process.cpu_ns


def leaves(group: Group, process: Process) -> None:
    """Add the CPU time that a process has used in a cgroup, which it leaves now, to the totals of the group and of
    those above.
    """
    used_ns = process.cpu_ns - process.cgroup_cpu_ns
    if used_ns:
        for above in group.up():
            above.counts[USED] = above.counts.get(USED, 0) + used_ns


def used_ns(hierarchy: Hierarchy, group: Group) -> int:
    """Return the CPU time (ns) that the processes of a cgroup and of the groups below have been charged."""
    total = group.counts.get(USED, 0) + sum(process.cpu_ns - process.cgroup_cpu_ns for process in group.members())
    if group.parent is None:
        total += sum(process.cpu_ns for process in hierarchy.processes(group))
    return total


def _stat(hierarchy: Hierarchy, group: Group) -> str:
    used_us = used_ns(hierarchy, group) // US
    text = f"usage_usec {used_us}\nuser_usec {used_us}\nsystem_usec 0\n"
    if group.parent is not None and "cpu" in group.controllers:
        text += _throttled(hierarchy, group)
    return text


def _throttled(hierarchy: Hierarchy, group: Group) -> str:
    """Return the lines of cpu.stat about the quota (cpu.max).

    nr_periods counts the periods in which something computed, nr_throttled those in which the quota was used up.
    throttled_usec is the time (µs) in which the quota kept threads of the group from computing.
    """
    hierarchy.controlled.cpu.share_anew(hierarchy.host.host)
    period_ns, account = group.number(PERIOD, PERIOD_US) * US, group.account
    active_ns, bounded_ns = (account.active_ns, account.bounded_ns) if account is not None else (0.0, 0.0)
    missing_ns = bounded_ns * max(0.0, 1.0 - account.quota) if account is not None and account.quota >= 0.0 else 0.0
    numbers = (active_ns // period_ns, bounded_ns // period_ns, missing_ns // US, 0, 0)
    names = ("nr_periods", "nr_throttled", "throttled_usec", "nr_bursts", "burst_usec")
    return "".join(f"{name} {int(number)}\n" for name, number in zip(names, numbers, strict=True))


def _read_max(hierarchy: Hierarchy, group: Group) -> str:
    quota = group.number(QUOTA)
    return f"{'max' if quota == NO_LIMIT else quota} {group.number(PERIOD, PERIOD_US)}\n"


def _write_max(request: Request) -> None:
    """Handle a write to cpu.max: the quota ("max" or microseconds), and optionally the period in microseconds."""
    words = request.words
    if not 1 <= len(words) <= 2:
        raise RefusedError(errno.EINVAL)
    quota = NO_LIMIT if words[0] == "max" else decimal(words[0])
    period = decimal(words[1]) if len(words) > 1 else request.group.number(PERIOD, PERIOD_US)
    if quota is None or period not in _PERIODS_US or (quota != NO_LIMIT and quota < 1000):
        raise RefusedError(errno.EINVAL)
    assert period is not None
    request.group.numbers.update({QUOTA: quota, PERIOD: period})
    _share_anew(request)


def _write_weight(request: Request) -> None:
    number = decimal(request.word)
    if number is None or number not in _WEIGHTS:
        raise RefusedError(errno.EINVAL if number is None else errno.ERANGE)
    request.group.numbers[WEIGHT] = number
    _share_anew(request)


def _nice_of(hierarchy: Hierarchy, group: Group) -> str:
    share = group.number(WEIGHT, WEIGHT_AT_FIRST) * 1024 / 100
    return f"{min(range(40), key=lambda at: abs(_NICE_TO_WEIGHT[at] - share)) - 20}\n"


def _write_nice(request: Request) -> None:
    text = request.word
    if decimal(text.removeprefix("-")) is None:
        raise RefusedError(errno.EINVAL)
    if not -20 <= int(text) <= 19:
        raise RefusedError(errno.ERANGE)
    request.group.numbers[WEIGHT] = max(1, round(_NICE_TO_WEIGHT[int(text) + 20] * 100 / 1024))
    _share_anew(request)


def account_of(group: Group) -> Account | None:
    """Return the account that the CPU time of a cgroup is counted to.

    The account belongs to the nearest group, from this one upwards, that has the controller cpu; None stands for the
    root group.
    """
    if group.parent is None:
        return None
    if "cpu" not in group.controllers:
        return account_of(group.parent)
    if group.account is None:
        group.account = Account(group.inode, account_of(group.parent))
        _set(group)
    return group.account


def _set(group: Group) -> None:
    account, quota = group.account, group.number(QUOTA)
    if account is not None:
        account.weight = group.number(WEIGHT, WEIGHT_AT_FIRST) * THREAD_WEIGHT / WEIGHT_AT_FIRST
        account.quota = NO_QUOTA if quota == NO_LIMIT else quota / group.number(PERIOD, PERIOD_US)


def _share_anew(request: Request) -> None:
    """Divide the processors among the cgroups of a host anew, because a group's weight or quota has changed."""
    _set(request.group)
    request.hierarchy.controlled.cpu.share_anew(request.hierarchy.host.host)


def _write_burst(request: Request) -> None:
    """Handle a write to cpu.max.burst: accept 0 only, since simunix keeps no unused quota for later."""
    if request.word != "0":
        raise RefusedError(errno.EINVAL)


def _write_idle(request: Request) -> None:
    if request.word != "0":
        raise RefusedError(errno.EINVAL)


FILES = (
    ControlFile("cpu.stat", "", _stat, None, EVERYWHERE),
    ControlFile(WEIGHT, "cpu", lambda hierarchy, group: f"{group.number(WEIGHT, WEIGHT_AT_FIRST)}\n", _write_weight),
    ControlFile("cpu.weight.nice", "cpu", _nice_of, _write_nice),
    ControlFile(QUOTA, "cpu", _read_max, _write_max),
    ControlFile(BURST, "cpu", lambda hierarchy, group: "0\n", _write_burst),
    ControlFile(IDLE, "cpu", lambda hierarchy, group: "0\n", _write_idle),
)
