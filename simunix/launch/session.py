"""A session of root on a host, on a terminal of the host, for a user outside of the emulation: `simunix shell`.

If hosts have no namespaces, the session belongs to the user who runs simunix, as do all processes of the hosts.
Terminal, user and shell are looked up as the host sees them, below /proc/PID/root of the host's first process.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios
from collections.abc import Mapping
from pathlib import Path

from rsg_server.edge.terminal import OpenedTerminal, TerminalRequest
from rsg_server.errors import SimunixError
from rsg_server.process.host_state import Command
from simunix.launch.factory.container import Isolation
from simunix.launch.factory.launcher import ContainerLauncher
from simunix.roots.tree import RootTree

MASTERS = ("dev/pts/ptmx", "dev/ptmx")
"""The files by which a terminal is opened. The first file is missing if the host has no /dev of its own."""
TIOCSPTLCK, TIOCGPTPEER = 0x40045431, 0x5441
"""The ioctl(2) requests that unlock a terminal, and that open its other side wherever its file system is mounted
(ioctl_tty(2)).
"""
IUTF8 = 0o40000
"""The bit of the input modes with which a backspace takes a whole character of UTF-8 away (termios(3))."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ROOT_USER, ROOT_HOME, ROOT_SHELL = "root", "/root", "/bin/sh"
"""The name, the home folder and the shell of a session on a host whose /etc/passwd has no line for the user."""


class Sessions:
    """Opens sessions on the hosts of a run; `environment` is the environment that all programs of the run have."""

    def __init__(self, launcher: ContainerLauncher, environment: Mapping[str, str]) -> None:
        self._launcher = launcher
        self._environment = environment

    def open(self, request: TerminalRequest) -> OpenedTerminal:
        """Open a terminal on a host, and return it with the program that is to run on it. Raises SimunixError if the
        terminal cannot be opened.
        """
        container = self._launcher.start(request.host)
        root = Path(f"/proc/{container.init}/root")
        user = os.geteuid() if container.spec.isolation is Isolation.NONE else 0
        outside, inside = _open_pair(request.host, root)
        _set_size(outside, request)
        return OpenedTerminal(outside, inside, self._command(request, root, inside, user))

    def _command(self, request: TerminalRequest, root: Path, inside: int, user: int) -> Command:
        name, home, shell = user_of(root, user)
        home = home if _inside(root, home).is_dir() else "/"
        own = {"HOME": home, "USER": name, "LOGNAME": name, "SHELL": shell, "PS1": f"{name}@{request.host}:$PWD# "}
        return Command(
            argv=request.argv or (shell,),
            environment={"PATH": PATH, **self._environment, **own, **request.environment},
            directory=home,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            label="joined",
            terminal=True,
        )


def user_of(root: Path, user: int = 0) -> tuple[str, str, str]:
    """Return name, home folder and shell of a user id from the /etc/passwd that a host sees below `root`; those of root
    if the file has no line for the user.
    """
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for line in _inside(root, "/etc/passwd").read_text().splitlines():
            fields = line.split(":")
            if len(fields) == 7 and fields[2] == str(user):
                shell = fields[6] if _inside(root, fields[6] or "/").is_file() else ROOT_SHELL
                return fields[0], fields[5] or "/", shell
    return ROOT_USER, ROOT_HOME, ROOT_SHELL


def _inside(root: Path, path: str) -> Path:
    """Return a host's path as a path of this computer. Symbolic links are followed as the host follows them, since
    /bin/bash may be reached by one.
    """
    with contextlib.suppress(OSError):
        return RootTree(root).locate(path)
    return root / path.lstrip("/")


def _open_pair(host: str, root: Path) -> tuple[int, int]:
    master = next((root / name for name in MASTERS if (root / name).exists()), root / MASTERS[0])
    flags = os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC
    try:
        outside = os.open(master, flags)
    except OSError as error:
        raise SimunixError(f"host {host}: cannot open a terminal: {error.strerror}; run it without one (-T)") from error
    try:
        fcntl.ioctl(outside, TIOCSPTLCK, struct.pack("i", 0))
        return outside, fcntl.ioctl(outside, TIOCGPTPEER, flags)
    except OSError as error:
        os.close(outside)
        raise SimunixError(f"host {host}: cannot open a terminal: {error.strerror}; run it without one (-T)") from error


def _set_size(outside: int, request: TerminalRequest) -> None:
    fcntl.ioctl(outside, termios.TIOCSWINSZ, struct.pack("HHHH", request.rows, request.columns, 0, 0))
    modes = termios.tcgetattr(outside)
    modes[0] |= IUTF8
    termios.tcsetattr(outside, termios.TCSANOW, modes)
