"""The program that serves as a host's D-Bus system bus (csrc/bus). The bus starts when a program of the host first
needs it.

The program's file is copied into the host's /run when the bus starts, so hosts without a bus have no cost.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.file_owner import making_as
from rsg_server.process.host_state import Command
from rsg_server.process.life.programs import Programs
from rsg_server.process.process import Process
from simunix.launch.factory.factory import LIBRARY
from simunix.launch.factory.launcher import ContainerLauncher
from simunix.launch.run_directory import RunDirectory
from simunix.launch.session import PATH

PROGRAM = LIBRARY / "simunix-bus"
PROGRAM_IN_HOST = "/run/simunix/simunix-bus"
LABEL = "system-bus"


@dataclass(frozen=True, slots=True)
class BusStarter:
    """Starts the system buses of a run; the standard error of a bus goes to LABEL.err in the folder of its host."""

    launcher: ContainerLauncher
    programs: Programs
    directory: RunDirectory

    def start(self, host: str) -> Process:
        """Start the system bus of a host, and return its process. Raises SimunixError if it cannot be started."""
        self._put_program(host)
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        append = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        errors = os.open(self.directory.host(host) / f"{LABEL}.err", append, 0o644)
        try:
            return self.programs.spawn(host, _command(nothing, errors))
        finally:
            os.close(nothing)
            os.close(errors)

    def _put_program(self, host: str) -> None:
        """Copy the bus program into the host's files, below /proc/PID/root of the host's first process."""
        target = Path(f"/proc/{self.launcher.start(host).init}/root{PROGRAM_IN_HOST}")
        try:
            if not target.exists():
                owner, program = target.parent.stat(), PROGRAM.read_bytes()
                with making_as((owner.st_uid, owner.st_gid)):
                    target.write_bytes(program)
                target.chmod(0o755)
        except OSError as error:
            raise SimunixError(f"host {host}: {PROGRAM_IN_HOST}: {error.strerror}") from error


def _command(nothing: int, errors: int) -> Command:
    return Command(
        argv=(PROGRAM_IN_HOST,),
        environment={"PATH": PATH},
        directory="/",
        stdin=nothing,
        stdout=nothing,
        stderr=errors,
        label=LABEL,
    )
