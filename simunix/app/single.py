"""`simunix run -- COMMAND`: one emulated host, the caller's own terminal, environment and files."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.options import KernelOptions
from rsg_server.platform.host import Host
from rsg_server.platform.star import star
from simunix.launch.debug.strace import NO_STRACE, StraceOptions
from simunix.launch.emulation import Emulation, say
from simunix.launch.factory.container import SHIM
from simunix.launch.interrupts import Interrupts
from simunix.launch.limits.limits import memory_bytes
from simunix.launch.plan import HostSpec, Plan, ProcessSpec
from simunix.launch.programs import check_program
from simunix.launch.run_directory import RunDirectory
from simunix.launch.view.temporary import left_files

PREEMPT_AFTER_S = 0.2
"""A single command may compute this long without a call before others of its threads and processes get a turn."""
ADDRESS = ip_address("10.0.0.1")
EPOCH_NS = 1_735_689_600 * 10**9
"""2025-01-01T00:00:00Z: the certificates that today's programs check must have begun to be valid, and not have ended."""


def plan_single(
    argv: tuple[str, ...], options: KernelOptions, until_ns: int | None, pace: float | None, log_every_turn: bool
) -> Plan:
    """A plan of one host, named and sized as this computer, that runs one command."""
    name = socket.gethostname().split(".")[0] or "localhost"
    cores = os.cpu_count() or 1
    host = Host(name, (ADDRESS,), cores, memory_bytes()["MemTotal"])
    process = ProcessSpec("command", name, argv, directory=os.getcwd())
    return Plan(
        name=argv[0],
        platform=star([host]),
        hosts=(HostSpec(name, sees_temporary_files=True, terminal=terminal_of_caller()),),
        processes=(process,),
        kernel=options,
        environment=dict(os.environ),
        shared=(os.getcwd(),),
        until_ns=until_ns,
        pace=pace,
        preempt_after_s=PREEMPT_AFTER_S,
        log_every_turn=log_every_turn,
    )


def terminal_of_caller() -> str:
    """The name of the terminal that this process reads from or writes to; empty if there is none."""
    for fd in (0, 1, 2):
        with contextlib.suppress(OSError):
            return os.ttyname(fd)
    return ""


def run_single(
    argv: tuple[str, ...],
    out: Path | None,
    seed: int,
    until_ns: int | None,
    pace: float | None,
    log_every_turn: bool = False,
    strict: bool = False,
    strace: StraceOptions = NO_STRACE,
    debug: str | None = None,
) -> int:
    """Run a command; return its own exit code. Nothing is kept unless `out` names a folder."""
    program = check_program(argv[0], os.environ.get("PATH", os.defpath), os.getcwd())
    if program is not None:
        raise SimunixError(program)
    plan = plan_single(argv, KernelOptions(seed=seed, epoch_ns=EPOCH_NS, strict=strict), until_ns, pace, log_every_turn)
    with contextlib.ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts())
        directory = RunDirectory.create(out) if out is not None else RunDirectory(stack.enter_context(temporary_folder()))
        emulation = Emulation(plan, directory, foreground=(0, 1, 2), strace=strace, debug=debug, interrupts=interrupts)
        try:
            emulation.run()
        except SimunixError as error:
            emulation.note_failure(error)
            raise
        except KeyboardInterrupt:
            emulation.service.reason = "interrupted"
            raise
        finally:
            if out is not None:
                from simunix.results.record import record_of
                from simunix.results.run_json import checksums

                shim = checksums({"shim": SHIM})
                record_of(emulation, inputs=shim).write(directory.path / "run.json")
            emulation.close()
            if out is None:
                _tell_left_files(plan.hosts[0].name, directory)
        return _exit_code(emulation)


def _tell_left_files(host: str, directory: RunDirectory) -> None:
    """Say what is removed with the run directory, so that no result is lost unnoticed."""
    left = left_files(host, directory)
    if left:
        others = f" and {len(left) - 1} more" if len(left) > 1 else ""
        say(
            f"{left[0]}{others}: written to a folder that is the emulated host's own, and removed with it; to keep such files "
            "give --out, or run the command in that folder"
        )


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that a shell removes when this process ends, even by SIGKILL: the shell waits for the end of a pipe."""
    folder = Path(tempfile.mkdtemp(prefix="simunix-"))
    script = 'read -r _; rm -rf -- "$1"'
    with subprocess.Popen(["/bin/sh", "-c", script, "sh", folder], stdin=subprocess.PIPE, start_new_session=True):
        yield folder


def _exit_code(emulation: Emulation) -> int:
    if emulation.failure is not None:
        raise SimunixError(emulation.failure)
    code = emulation.supervised[0].exit_code
    if code is None:
        return 0 if emulation.service.reason == "time limit" else 1
    return code if code >= 0 else 128 - code
