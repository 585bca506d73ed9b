"""`simunix run --gdb PROCESS`: attach gdb, which runs outside of the emulation, to an emulated program before the
program's first instruction.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rsg_server.diagnosis.debugger import Debugger
from rsg_server.errors import SimunixError
from rsg_server.handlers.table import Reply
from rsg_server.process.process import Process
from simunix.launch.plan import Plan

COMMANDS = """# Every system call of an emulated process reaches simunix by a SIGSYS of its own, and so goes on at once.
handle SIGSYS nostop noprint pass
# Ctrl-C stops a program that waits by this; it is for gdb only.
handle SIGSTOP nopass
# The program has been held until now: it may go on even if gdb leaves it at once.
shell touch {mark}
"""
USERS_ROOT = """# Only root's gdb may enter the host's mount namespace to read the program and its libraries there.
set sysroot /proc/{pid}/root
"""


@dataclass(slots=True)
class Gdb:
    """Starts gdb on the terminal of this process. Without a terminal, prints the command that starts gdb in another
    terminal.

    `before` is called before gdb takes the terminal, so that other users of the terminal, such as the progress bar,
    stop drawing.
    """

    target: str  # PROCESS or HOST:PROCESS
    folder: Path
    say: Callable[[str], None]
    before: Callable[[], None] = lambda: None
    debugger: Debugger[Reply] = field(init=False)
    _running: subprocess.Popen[bytes] | None = None
    _interrupt: Any = None  # the handler of Ctrl-C before gdb took the terminal

    def __post_init__(self) -> None:
        host, _, name = self.target.rpartition(":")
        self.debugger = Debugger(host, name, self._attach, self._mark.exists)

    @property
    def _mark(self) -> Path:
        """The file that gdb creates after attaching; gdb reads its commands only then."""
        return self.folder / "gdb.attached"

    @property
    def is_on_terminal(self) -> bool:
        """Whether gdb uses the terminal of this process."""
        return self._running is not None

    def check(self, plan: Plan) -> None:
        """Raise SimunixError if the plan has no such host, or if gdb is not installed."""
        hosts = [host.name for host in plan.hosts]
        if self.debugger.host not in ("", *hosts):
            raise SimunixError(f"--gdb {self.target}: no host {self.debugger.host!r}; known: {', '.join(hosts)}")
        if shutil.which("gdb") is None:
            raise SimunixError("--gdb: gdb is not installed (Debian: apt-get install gdb)")

    def command(self, process: Process) -> list[str]:
        """Return the command that attaches gdb to an emulated process, with the files of symbols and commands that gdb
        needs.
        """
        (self.folder / "gdb.init").write_text(COMMANDS.format(mark=shlex.quote(str(self._mark))))
        command = ["gdb", "-q", "-x", str(self.folder / "gdb.init"), "-p", str(process.global_pid)]
        if os.geteuid() != 0:
            (self.folder / "gdb.root").write_text(USERS_ROOT.format(pid=process.global_pid))
            command[2:2] = ["-ix", str(self.folder / "gdb.root")]  # before it attaches
        return command

    def _attach(self, process: Process) -> None:
        command = self.command(process)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            self.say(f"{process!r} waits for a debugger; in a terminal: {' '.join(command)}")
            return
        self.before()
        self.say(f"{process!r} waits at its start; set breakpoints, then continue")
        # while gdb has the terminal, Ctrl-C is meant for gdb
        self._interrupt = signal.signal(signal.SIGINT, self._stop_waiting)
        self._running = subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def _stop_waiting(self, number: int, frame: object) -> None:
        """Handle Ctrl-C while the program runs under gdb. A program that waits in the shim blocks the signal that gdb
        sends to stop it, but not the signal that this handler sends.
        """
        self._stop_program("S")

    def _stop_program(self, states: str) -> None:
        """Make gdb stop the program and show its prompt, if the state of the program in /proc/PID/status is one of the
        letters in `states`.
        """
        process = self.debugger.process
        if process is not None and process.status_fields().get("State", " ")[0] in states:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.global_pid, signal.SIGSTOP)

    def look(self) -> None:
        """Let Ctrl-C end the run again, once the user has left gdb."""
        if self._running is not None and self._running.poll() is not None:
            self._left()

    def _left(self) -> None:
        self._running = None
        signal.signal(signal.SIGINT, self._interrupt)

    def finish(self, reason: str) -> None:
        """Make gdb let go of the program at the end of the run, for this reason: a process that gdb has stopped could
        not die.
        """
        if self.debugger.process is None:
            self.say(f"--gdb {self.target}: no process of this name was started")
        elif self._running is None and self.debugger.is_attached():
            self.say(f"the run has ended ({reason}); quit gdb")
        if self._running is not None:
            if self._running.poll() is None:
                self.say(f"the run has ended ({reason}); quit gdb to go on")
                self._stop_program("SRD")  # gdb waits for the program and so has no prompt
            self._running.wait()
            self._left()
