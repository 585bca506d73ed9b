"""`simunix run -- COMMAND`: one emulated host, the caller's own terminal, environment and files."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from ipaddress import ip_address
from pathlib import Path

import psutil

from rsg_server.errors import SimunixError
from rsg_server.kernel import KernelOptions
from rsg_server.platform.host import Host
from rsg_server.platform.star import star
from simunix.launch.emulation import Emulation
from simunix.launch.plan import HostSpec, Plan, ProcessSpec
from simunix.launch.programs import check_program
from simunix.launch.run_directory import RunDirectory

PREEMPT_AFTER_S = 0.2
"""A single command may compute this long without a call before others of its threads and processes get a turn."""
ADDRESS = ip_address("10.0.0.1")


def plan_single(
    argv: tuple[str, ...], options: KernelOptions, until_ns: int | None, pace: float | None, log_every_turn: bool
) -> Plan:
    """One host, named and sized as this computer, that runs one command."""
    name = socket.gethostname().split(".")[0] or "localhost"
    cores = os.cpu_count() or 1
    host = Host(name, (ADDRESS,), cores, psutil.virtual_memory().total)
    process = ProcessSpec("command", name, argv, directory=os.getcwd())
    return Plan(
        argv[0],
        star([host]),
        (HostSpec(name),),
        (process,),
        options,
        environment=dict(os.environ),
        until_ns=until_ns,
        pace=pace,
        preempt_after_s=PREEMPT_AFTER_S,
        log_every_turn=log_every_turn,
    )


def run_single(
    argv: tuple[str, ...],
    out: Path | None,
    seed: int,
    until_ns: int | None,
    pace: float | None,
    log_every_turn: bool = False,
    strict: bool = False,
) -> int:
    """Run it; the exit code is the command's own. Nothing is kept unless `out` says where."""
    program = check_program(argv[0], os.environ.get("PATH", os.defpath), os.getcwd())
    if program is not None:
        raise SimunixError(program)
    plan = plan_single(argv, KernelOptions(seed=seed, strict=strict), until_ns, pace, log_every_turn)
    temporary = None if out is not None else Path(tempfile.mkdtemp(prefix="simunix-"))
    try:
        directory = RunDirectory.create(out) if out is not None else RunDirectory(temporary or Path())
        emulation = Emulation(plan, directory, foreground=(0, 1, 2))
        emulation.prepare()
        try:
            emulation.run()
        finally:
            emulation.close()
        return _exit_code(emulation)
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _exit_code(emulation: Emulation) -> int:
    if emulation.failure is not None:
        raise SimunixError(emulation.failure)
    code = emulation.supervised[0].exit_code
    if code is None:
        return 0 if emulation.service.reason == "time limit" else 1
    return code if code >= 0 else 128 - code
