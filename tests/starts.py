"""Starts simunix for tests: as a fork of a process that has loaded simunix already (tests/fork_server.py), or as a new
process.
"""

from __future__ import annotations

import atexit
import contextlib
import inspect
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FRESH = (sys.executable, "-m", "simunix.cli.main")
"""What a start of simunix begins with that is like a user's."""
IS_ALWAYS_FRESH = os.environ.get("SIMUNIX_TESTS_START") == "fresh"
"""The switch: with SIMUNIX_TESTS_START=fresh nothing is forked."""
STATUS_BYTES = 32
PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
"""What subprocess calls both ends of the pipes to standard input, output and error."""


class ForkServer:
    """The process that forks. It ends, and its children with it, when this one ends."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "tests.fork_server"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, start_new_session=True
        )
        theirs.close()
        atexit.register(self.close)

    def close(self) -> None:
        """End it."""
        self._control.close()
        self._process.wait()

    def start(self, request: dict[str, object], streams: Sequence[int]) -> tuple[int, socket.socket]:
        """The pid of a new simunix, and the socket that its status will come from."""
        answer, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            socket.send_fds(self._control, [json.dumps(request).encode()], [*streams, theirs.fileno()])
        pid = answer.recv(STATUS_BYTES)
        if not pid:
            raise RuntimeError("the fork server of the tests has died; what it said is on stderr")
        return int(pid), answer


@cache
def fork_server(worker: int) -> ForkServer:
    """The fork server of this process, started when it is first needed."""
    return ForkServer()


NOTICES = ("simunix: in a user namespace every user of a host is you", "simunix: no namespaces (")
"""How a line begins that a user's run says of its isolation, and root's does not."""


def without_notices(stderr: str) -> str:
    """What simunix says to a user as it does to root."""
    if os.geteuid() == 0:
        return stderr
    return "".join(line for line in stderr.splitlines(keepends=True) if not line.startswith(NOTICES))


class Heard(subprocess.Popen[str]):
    """A `subprocess.Popen` whose `communicate` leaves out what a user's simunix says and root's does not."""

    def communicate(self, *arguments: Any, **options: Any) -> tuple[str, str]:
        stdout, stderr = super().communicate(*arguments, **options)
        return stdout, without_notices(stderr) if stderr else stderr


class Forked(Heard):
    """A `subprocess.Popen` of simunix whose start is a fork of the server's: what is replaced is the start and the wait.

    Its process group is its own. Of the options those that need code to run in the child are not possible.
    """

    _status: socket.socket

    def _execute_child(self, *values: Any) -> None:
        names = [*inspect.signature(subprocess.Popen._execute_child).parameters][1:]  # type: ignore[attr-defined]
        given = dict(zip(names, values, strict=True))
        environment = os.environ if given["env"] is None else given["env"]
        umask = os.umask(0o022)
        os.umask(umask)
        request = {
            "arguments": given["args"],
            "directory": os.fspath(given["cwd"] or os.getcwd()),
            "environment": {name: os.fspath(value) for name, value in environment.items()},
            "umask": umask,
            "session": given["start_new_session"],
        }
        ends = (given["p2cread"], given["c2pwrite"], given["errwrite"])
        streams = [default if end == -1 else end for default, end in enumerate(ends)]
        try:
            self.pid, self._status = fork_server(os.getpid()).start(request, streams)
            self._child_created = True
        finally:
            self._close_pipe_fds(*(given[name] for name in PIPES))  # type: ignore[attr-defined]

    def _internal_poll(self, _deadstate: object = None) -> int | None:
        return self._await(0)

    def _wait(self, timeout: float | None) -> int:
        if self._await(timeout) is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def _await(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            answer = self._status.recv(STATUS_BYTES)
            self._status.close()
            self.returncode = os.waitstatus_to_exitcode(int(answer)) if answer else -signal.SIGKILL  # the server is gone
        return self.returncode


def start(*arguments: object, fresh: bool = False, **options: Any) -> subprocess.Popen[str]:
    """`subprocess.Popen` of `simunix ARGUMENTS` with these options; its output is text.

    A fresh start is for tests of the start itself, and for those that say that the seed of Python's hashes does not matter.
    """
    words = list(map(str, arguments))
    if fresh or IS_ALWAYS_FRESH or "preexec_fn" in options:
        environment = {**(options.pop("env", None) or os.environ)}
        environment["PYTHONPATH"] = str(ROOT)
        return Heard([*FRESH, *words], env=environment, text=True, **options)
    return Forked(words, text=True, **options)


def run(
    *arguments: object, timeout: float = 60, fresh: bool = False, capture_output: bool = True, **options: Any
) -> subprocess.CompletedProcess[str]:
    """`subprocess.run` of `simunix ARGUMENTS`. Standard input is empty, wall time bounded; it is killed when that is over.

    Its standard error is without the line on how a user's hosts are kept apart, so that tests expect of both users one text.
    """
    options.setdefault("stdin", subprocess.DEVNULL)
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start(*arguments, fresh=fresh, **options) as process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=1)
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)
