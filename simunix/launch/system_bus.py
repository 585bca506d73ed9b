"""The program that is a host's system bus (csrc/bus), started on the host when it is first wanted there.

A host that wants none pays for none: the program's file is put into the host's /run at the start of the first bus.
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
    """Starts the buses of a run; what one has to say comes into LABEL.err, in the folder of its host."""

    launcher: ContainerLauncher
    programs: Programs
    directory: RunDirectory

    def start(self, host: str) -> Process:
        """Start the bus of a host. Raises SimunixError if it cannot be."""
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
        """Copy the program to where the host finds it: the root of the host's first process is the root of the host."""
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
