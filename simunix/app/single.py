"""`simunix run -- COMMAND`: run a command on one emulated host, with the caller's own terminal, environment and files."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path

from rsg_server.checks.invariants import VARIABLE as CHECKS_VARIABLE
from rsg_server.errors import SimunixError
from rsg_server.options import KernelOptions
from rsg_server.platform.host import Host, NumaNodes
from rsg_server.platform.star import star
from rsg_server.shared.prices import Costs
from simunix.app.run_folder import recorded, run_folder
from simunix.app.run_options import RunOptions
from simunix.dates import since_1970_ns, today
from simunix.launch.emulation import Emulation, say
from simunix.launch.factory.container import SHIM
from simunix.launch.failures import signal_name
from simunix.launch.interrupts import Interrupts
from simunix.launch.limits.limits import memory_bytes
from simunix.launch.plan import HostSpec, Plan, ProcessSpec
from simunix.launch.programs import check_program
from simunix.launch.run_directory import RunDirectory
from simunix.launch.view.temporary import left_files

PREEMPT_AFTER_S = 0.2
"""The CPU seconds that a thread of a single command may compute without a system call before other threads and
processes are given the turn (the right to run).
"""
SILENT = (signal.SIGINT, signal.SIGPIPE)
"""Signals with which users end commands. The run prints no message about a command that such a signal ended."""
ADDRESS = ip_address("10.0.0.1")


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleOptions(RunOptions):
    """The options of the command line for a single command."""

    argv: tuple[str, ...]


def _has_one_node() -> bool:
    """Return whether this computer has one NUMA node. If this computer has several, the command learns of them from the
    kernel.
    """
    online = Path("/sys/devices/system/node/online")
    return not online.exists() or online.read_text().strip() == "0"


def plan_single(options: SingleOptions) -> Plan:
    """Return a plan that runs one command on one host; the host has the name, the cores and the memory of this
    computer.
    """
    name = socket.gethostname().split(".")[0] or "localhost"
    cores = os.cpu_count() or 1
    numa = NumaNodes(int(_has_one_node()), cores)
    host = Host(name, (ADDRESS,), cores, memory_bytes()["MemTotal"], numa=numa)
    process = ProcessSpec("command", name, options.argv, directory=os.getcwd())
    plan = Plan(
        name=options.argv[0],
        platform=star([host]),
        hosts=(HostSpec(name, sees_temporary_files=True, terminal=terminal_of_caller()),),
        processes=(process,),
        kernel=KernelOptions(seed=options.seed or 0, epoch_ns=since_1970_ns(today()), strict=options.strict),
        environment={name: value for name, value in os.environ.items() if name != CHECKS_VARIABLE},
        shared=(os.getcwd(),),
        until_ns=options.until_ns,
        pace=options.pace,
        preempt_after_s=PREEMPT_AFTER_S,
        log_every_turn=options.log_every_turn,
        observation=options.observation,
    )
    plan = _with_settings(plan, options) if options.overrides else plan
    return plan if options.replay_cpu is None else _with_replay(plan, options.replay_cpu, options.out)


def _with_replay(plan: Plan, directory: Path, out: Path | None) -> Plan:
    # imports the reader of run.json, which takes long, and which only --replay-cpu needs
    from simunix.app.replay import with_replay

    return with_replay(plan, directory, out)


def _with_settings(plan: Plan, options: SingleOptions) -> Plan:
    """Return a copy of the plan with the values of `--set`."""
    from simunix.app.settings import settings_of  # imports pydantic, which takes long, and which only --set needs
    from simunix.planning.cpu_policies import charging_of

    wanted = settings_of(options.overrides)
    said = wanted.model_fields_set
    kernel = replace(
        plan.kernel,
        seed=wanted.seed if options.seed is None else options.seed,
        epoch_ns=since_1970_ns(wanted.epoch),
        costs=Costs(wanted.costs.clock_read, wanted.costs.poll, wanted.costs.call),
        strict=options.strict or wanted.strict,
        charging=charging_of(wanted, plan.processes, Path.cwd()),
    )
    preempt_after_s = wanted.preempt_after / 1e9 or None
    return replace(
        plan,
        kernel=kernel,
        hosts=tuple(replace(host, privileged=wanted.privileged) for host in plan.hosts),
        environment={**plan.environment, **wanted.environment},
        shared=(*plan.shared, *wanted.shared),
        until_ns=wanted.until if plan.until_ns is None else plan.until_ns,
        pace=wanted.pace if plan.pace is None else plan.pace,
        preempt_after_s=preempt_after_s if "preempt_after" in said else plan.preempt_after_s,
        capacity=wanted.capacity,
    )


def terminal_of_caller() -> str:
    """Return the path of the terminal that is on a standard stream of this process; "" if there is none."""
    for fd in (0, 1, 2):
        with contextlib.suppress(OSError):
            return os.ttyname(fd)
    return ""


def run_single(options: SingleOptions) -> int:
    """Run a single command; return the command's exit code. Without `out`, no files of the run are kept."""
    program = check_program(options.argv[0], os.environ.get("PATH", os.defpath), os.getcwd())
    if program is not None:
        raise SimunixError(program)
    return run_planned(plan_single(options), options)


def run_planned(plan: Plan, options: SingleOptions) -> int:
    """Run the command of a plan of one host; return the command's exit code."""
    with Interrupts() as interrupts, run_folder(options.out) as directory:
        emulation = Emulation(
            plan,
            directory,
            foreground=(0, 1, 2),
            strace=options.strace,
            debug=options.debug,
            interrupts=interrupts,
            pause_at_ns=options.pause_at_ns,
        )
        kept, inputs = options.out is not None, {"shim": SHIM}
        try:
            with recorded(emulation, directory, is_kept=kept, inputs=inputs, overrides=options.overrides):
                emulation.run(is_alone=not kept and options.pause_at_ns is None)
        finally:
            if not kept:
                _tell_left_files(plan.hosts[0].name, directory)
        return _exit_code(options, emulation)


def _tell_left_files(host: str, directory: RunDirectory) -> None:
    """Report which files of the command are removed together with the run directory, so that no result is lost
    unnoticed.
    """
    left = left_files(host, directory)
    if left:
        others = f" and {len(left) - 1} more" if len(left) > 1 else ""
        say(
            f"{left[0]}{others}: written to a folder that is the emulated host's own, and removed with it; to keep such files "
            "give --out, or run the command in that folder"
        )


def _exit_code(options: SingleOptions, emulation: Emulation) -> int:
    if emulation.failure is not None:
        raise SimunixError(emulation.failure)
    code = emulation.supervised[0].exit_code
    if code is None:
        return 0 if emulation.service.reason == "time limit" else 1
    if code >= 0:
        return code
    if -code not in SILENT:
        print(f"simunix: {options.argv[0]} was ended by {signal_name(-code)}", file=sys.stderr)
    return 128 - code
