"""Real processes that stand behind the actors of a test."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from rsg_server.process.actor import Actor
from tests.unit.rsg_server.fakes import Fake


@contextmanager
def real_process(world: Fake, *command: str, blocked: int = 0, own_session: bool = False) -> Iterator[Actor]:
    """The actor of a native program (`sleep 100` if none is named), which is killed at the end; `blocked` is a signal."""

    def block() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {blocked})

    before = block if blocked else None
    with subprocess.Popen(
        command or ("sleep", "100"), stdout=subprocess.PIPE, preexec_fn=before, start_new_session=own_session
    ) as program:
        actor = world.born(pid=program.pid)
        actor.process.open_pidfd(program.pid)
        try:
            yield actor
        finally:
            program.kill()


def this_process(world: Fake) -> Actor:
    """An actor that stands for the test itself, the parent of all programs of `real_process`."""
    actor = world.born(pid=os.getpid())
    actor.process.open_pidfd(os.getpid())
    return actor


def stop(actor: Actor) -> None:
    """Stop the program of an actor for real, and return once it is stopped."""
    os.kill(actor.process.global_pid, signal.SIGSTOP)
    os.waitid(os.P_PID, actor.process.global_pid, os.WSTOPPED | os.WNOWAIT)


def kill(actor: Actor) -> None:
    """Kill the program of an actor for real, and return once it is a zombie."""
    os.kill(actor.process.global_pid, signal.SIGKILL)
    os.waitid(os.P_PID, actor.process.global_pid, os.WEXITED | os.WNOWAIT)
