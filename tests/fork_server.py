"""Starts of simunix without its imports: a process that has loaded simunix already forks a child for each start.

A start costs some 0.15 s of CPU time for Python's own start and the imports, a fork a few milliseconds, and the tests start
simunix hundreds of times. The child gets the same as a fresh process would have: arguments, folder, environment,
standard streams, session, umask, no other descriptor, no other thread. What it shares with its siblings is the
seed of Python's string hashes and of trio's scheduler: a test that says that neither matters needs fresh processes
(tests/starts.py).

Run as `python -m tests.fork_server` with a SEQPACKET socket as standard input. A request is one message, JSON with the
descriptors of standard input, output and error and of the caller's socket, to which go, a message each, the child's pid and in
the end its status, as wait(2) gives it. The server ends when its own socket is closed; children that still live get SIGTERM.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from dataclasses import dataclass, field
from typing import Any

REQUEST_BYTES = 1 << 20
DESCRIPTORS = 4
PRELOADED = ("simunix.cli.main", "simunix.cli.run", "simunix.app.single", "simunix.app.runner", "simunix.app.join")


@dataclass(slots=True)
class Server:
    """Takes requests one after the other; the children run side by side."""

    control: socket.socket
    poller: select.poll = field(default_factory=select.poll)
    children: dict[int, tuple[int, socket.socket]] = field(default_factory=dict)
    """By pidfd: the child's pid, and where to report its status."""

    def serve(self) -> list[str] | None:
        """The arguments of simunix, in a child; None in the server, when nobody is left to ask."""
        self.poller.register(self.control, select.POLLIN)
        while True:
            for fd, _ in self.poller.poll():
                if fd != self.control.fileno():
                    self.reap(fd)
                    continue
                message, fds, _, _ = socket.recv_fds(self.control, REQUEST_BYTES, DESCRIPTORS)
                if not message:
                    self.give_up()
                    return None
                request = json.loads(message)
                if self.fork(fds):
                    return become(request, fds)

    def fork(self, fds: list[int]) -> bool:
        """Whether this is the child."""
        caller = socket.socket(fileno=fds[3])
        pid = os.fork()
        if pid == 0:
            caller.detach()
            self.control.detach()
            return True
        for fd in fds[:3]:
            os.close(fd)
        pidfd = os.pidfd_open(pid)
        self.children[pidfd] = (pid, caller)
        self.poller.register(pidfd, select.POLLIN)
        tell(caller, pid)
        return False

    def reap(self, pidfd: int) -> None:
        """A child has ended: say how."""
        pid, caller = self.children.pop(pidfd)
        self.poller.unregister(pidfd)
        os.close(pidfd)
        _, status = os.waitpid(pid, 0)
        tell(caller, status)
        caller.close()

    def give_up(self) -> None:
        """Ask the children that are left to end."""
        for pid, _ in self.children.values():
            os.kill(pid, signal.SIGTERM)


def tell(caller: socket.socket, number: int) -> None:
    """A number for the caller, which may not be there any more."""
    try:
        caller.send(str(number).encode())
    except BrokenPipeError:
        return


def become(request: dict[str, Any], fds: list[int]) -> list[str]:
    """Turn this child of the server into what a fresh process would be; the arguments that simunix is to be run with."""
    if request["session"]:
        os.setsid()
    else:
        os.setpgid(0, 0)
    for target, fd in enumerate(fds[:3]):
        os.dup2(fd, target)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
    os.chdir(request["directory"])
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [sys.argv[0], *request["arguments"]]
    return list(request["arguments"])


def main() -> int:
    """Load, serve; in a child, be simunix."""
    for name in PRELOADED:
        importlib.import_module(name)
    if (threads := len(os.listdir("/proc/self/task"))) != 1:
        raise RuntimeError(f"a fork takes one thread along, there are {threads}")
    gc.collect()
    gc.freeze()  # a child's collector would write to every object, and so copy every page
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    arguments = Server(control).serve()
    if arguments is None:
        return 0
    from simunix.cli.main import leave
    from simunix.cli.main import main as run

    leave(run(arguments))


if __name__ == "__main__":
    sys.exit(main())
